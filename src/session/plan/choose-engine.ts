import { formatSizeMb } from '../../core/config/values/quantities.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { Policy } from '../../core/types/policy.ts';
import { placeOf } from '../../engines/capabilities/columns.ts';
import { refuseUnsupported } from '../../engines/capabilities/refuse.ts';
import { parseClusterTarget } from '../../engines/cluster/target.ts';
import { parseJobTarget } from '../../engines/jobs/target.ts';

/** Free space below which a session on an engine would soon be stopped, in MB. */
export const MIN_FREE_DISK_MB = 2048;

/** An engine that answered. */
export interface EngineOffer {
  readonly name: string;
  readonly facts: Pick<EngineFacts, 'kind' | 'memoryMb'>;
  /** Of its data directory; undefined where that is not known. */
  readonly freeDiskMb: number | undefined;
  /** run-claude's sessions of this user that run there or are about to. */
  readonly sessions: number;
  /** What these may take together. */
  readonly sessionsMemoryMb: number;
}

/** An engine that the session does not get, and why. */
export interface PassedOver {
  readonly name: string;
  readonly why: string;
}

/** What a session asks of an engine. */
export type EngineNeeds = Pick<Policy, 'memoryMb' | 'engine'>;

/**
 * The engine of several that runs the fewest sessions and has room for one more; of equal ones the first. Pure. undefined
 * where none can take the session.
 */
export function chooseEngine<T extends EngineOffer>(
  offers: readonly T[],
  needs: EngineNeeds,
): { readonly chosen: T | undefined; readonly passedOver: readonly PassedOver[] } {
  const passedOver: PassedOver[] = [];
  let chosen: T | undefined;
  for (const offer of offers) {
    const why = whyNot(offer, needs);
    if (why !== undefined) passedOver.push({ name: offer.name, why });
    else if (chosen === undefined || offer.sessions < chosen.sessions) chosen = offer;
  }
  return { chosen, passedOver };
}

function whyNot(offer: EngineOffer, { memoryMb, engine }: EngineNeeds): string | undefined {
  const { facts, freeDiskMb, sessions, sessionsMemoryMb } = offer;
  if (engine !== 'auto' && facts.kind !== engine) return `it is not ${engine}`;
  if (freeDiskMb !== undefined && freeDiskMb < MIN_FREE_DISK_MB)
    return `its disk is full: ${formatSizeMb(freeDiskMb)} are free`;
  const total = facts.memoryMb;
  if (total === undefined || sessionsMemoryMb + memoryMb <= total) return undefined;
  const has = `it has ${formatSizeMb(total)} of memory`;
  const asks = `this session may take ${formatSizeMb(memoryMb)}`;
  if (sessions === 0) return `${has}, and ${asks}`;
  const running = sessions === 1 ? 'the session there' : `the ${sessions} sessions there`;
  return `${has}, ${running} may take ${formatSizeMb(sessionsMemoryMb)}, and ${asks}`;
}

/** The line about an engine that was passed over. */
export function passedOverLine({ name, why }: PassedOver): string {
  return `Engine ${name} is passed over: ${why}`;
}

/** Where none of the engines can take the session. */
export function noEngineLeft(passedOver: readonly PassedOver[]): RunClaudeError {
  const reasons = passedOver.map(({ name, why }) => `\n  ${name}: ${why}`).join('');
  return new RunClaudeError('ENGINES_UNUSABLE', `no engine of --on can take the session:${reasons}`, {
    hint: `Check one: run-claude doctor --on ${passedOver[0]?.name ?? 'NAME'}`,
  });
}

/** Whether a session is a job of a scheduler, or pods of a cluster. @throws {RunClaudeError} USAGE as parseJobTarget, parseClusterTarget. */
export const goesToScheduler = ({ on }: { readonly on?: string | undefined }): boolean =>
  on !== undefined && (parseClusterTarget(on) ?? parseJobTarget(on)) !== undefined;

/**
 * The names of `--on`, each once, in their order; empty without it.
 */
export function engineNames(on: string | undefined): readonly string[] {
  return [
    ...new Set(
      (on ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ),
  ];
}

/** Why an engine runs no session, whatever limits it reports; undefined where it may. */
export function refusalOf(engine: Pick<EngineFacts, 'kind' | 'name' | 'local' | 'version'>): string | undefined {
  if (engine.kind !== 'podman') return undefined;
  if (Number.parseInt(engine.version, 10) < 4)
    return `${engine.name} has no API for every layer of protection (Podman 4 has)`;
  if (engine.local) return undefined;
  return `${engine.name} takes the seccomp profile only as a file of its own machine, and it runs on another machine`;
}

/**
 * Refuses an engine that cannot enforce the policy.
 *
 * @throws {RunClaudeError} ENGINE_NO_LAYER, ENGINE_NO_RUNTIME, ENGINE_NO_GPU; USAGE for what the runtime does not support
 */
export function refuseEngine(engine: EngineFacts, policy: Pick<Policy, 'cpus' | 'runtime'> & Partial<Policy>): void {
  const refusal = refusalOf(engine);
  if (refusal !== undefined)
    throw new RunClaudeError('ENGINE_NO_LAYER', refusal, { hint: 'Use Docker, or Podman on this machine.' });
  refuseUnsupported(placeOf(engine), { policy });
  const missing = [
    ...(engine.seccomp ? [] : ['seccomp']),
    ...(engine.memoryLimit ? [] : ['memory limits']),
    ...(engine.pidsLimit ? [] : ['process limits']),
    ...(policy.cpus === 0 || engine.cpuLimit ? [] : ['processor limits (--cpus)']),
  ];
  if (missing.length > 0) {
    throw new RunClaudeError('ENGINE_NO_LAYER', `${engine.name} cannot set ${missing.join(', ')}`, {
      hint: 'For a rootless engine, delegate the cgroup controllers. run-claude doctor lists what is missing.',
    });
  }
  if (policy.gpu === true && engine.gpus !== true) {
    throw new RunClaudeError('ENGINE_NO_GPU', `${engine.name} has no graphics processors to give`, {
      hint: "Leave --gpu out, or install NVIDIA's container toolkit where the engine runs.",
    });
  }
  if (policy.runtime !== undefined && !engine.runtimes.includes(policy.runtime)) {
    throw new RunClaudeError('ENGINE_NO_RUNTIME', `${engine.name} has no runtime '${policy.runtime}'`, {
      hint: `Use one of its runtimes: ${engine.runtimes.join(', ')}.`,
    });
  }
}

import { formatSizeMb } from '../../core/config/values/quantities.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { Policy } from '../../core/types/policy.ts';
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

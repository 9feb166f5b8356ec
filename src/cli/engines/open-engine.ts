import { DEFAULT_ENGINE } from '../../core/config/default-engine.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { makeOwnedDir } from '../../core/host/files/owned-dir.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { parseClusterTarget } from '../../engines/cluster/target.ts';
import { type ConnectOptions, connectEngine, ownerOf, triesEndpoint } from '../../engines/engine/connect.ts';
import { isSameEngine } from '../../engines/engine/same-engine.ts';
import { parseJobTarget } from '../../engines/jobs/target.ts';
import { goesToScheduler } from '../../session/plan/choose-engine.ts';
import { chooseUser, type UserNumbers } from '../../session/plan/user.ts';
import { findSpareId } from '../../session/record/find/spare-id.ts';
import { type CommandContext, optionChoice, optionValue } from '../context/context.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { engineNamed } from './named-engines.ts';

/** The values of `--engine`. */
const ENGINES: readonly Policy['engine'][] = ['auto', 'docker', 'podman'];

/** For a command that continues without the session: a queue that does not move must not hold it. */
const QUEUE_LIMIT_MS = 60_000;

/** Which engine a command uses. */
export interface EngineChoice {
  readonly engine: Policy['engine'];
  /** The name of one engine of the configuration, `slurm:PARTITION` or `k8s:CONTEXT`; undefined for the default engine. */
  readonly on?: string | undefined;
  /** Of a command that runs an agent: what its job is asked for. */
  readonly run?: JobRun | undefined;
  /** How long a job may wait in the queue; undefined: until the user ends it. */
  readonly queueLimitMs?: number | undefined;
}

export interface JobRun {
  readonly policy: Policy;
  /** Layers that the command line gives up. */
  readonly without: readonly string[];
}

/** The engine of a command that takes `--engine` and `--on`, which names one. */
export function engineChoice(line: CommandLineOfCommand): EngineChoice {
  return { engine: optionChoice(line, 'engine', ENGINES) ?? 'auto', on: optionValue(line, 'on') };
}

/** What connecting an engine needs of the outside world. */
export type EngineContext = Pick<CommandContext, 'env' | 'places'> & Partial<CommandContext>;

/** The label value of what run-claude makes on an engine: one for each state directory. */
export function ownerHere({ places }: Pick<CommandContext, 'places'>): string {
  return ownerOf(places.stateDir);
}

/**
 * Connects the engine of the user's choice. The objects on it that belong to this state directory are run-claude's.
 *
 * @param answerMs how long it may take to answer; undefined for the usual time.
 * @throws {RunClaudeError} as connectEngine; USAGE for a name that the
 * configuration does not have; for a job as openEngineOfJobs
 */
export async function openEngine(
  choice: Policy['engine'] | EngineChoice,
  context: EngineContext,
  answerMs?: number,
): Promise<Runtime> {
  const { engine, on, run, queueLimitMs }: EngineChoice = typeof choice === 'string' ? { engine: choice } : choice;
  const cluster = on === undefined ? undefined : parseClusterTarget(on);
  if (cluster !== undefined) {
    const { openEngineOfCluster } = await import('./open-cluster-engine.ts');
    const request = { target: cluster, policy: run?.policy, without: run?.without ?? [] };
    return openEngineOfCluster(request, ownerHere(context), context);
  }
  const target = on === undefined ? undefined : parseJobTarget(on);
  if (target !== undefined) {
    const { openEngineOfJobs } = await import('./open-job-engine.ts');
    const request = { target, policy: run?.policy, without: run?.without ?? [], queueLimitMs };
    return openEngineOfJobs(request, () => connectEngine(connectOptions(engine, context)), context);
  }
  const options = { ...connectOptions(engine, context), ...(answerMs === undefined ? {} : { answerMs }) };
  if (on === undefined || on === DEFAULT_ENGINE) return connectEngine(options);
  return connectEngine({ ...options, only: await engineNamed(on, context.places.configDir) });
}

/**
 * Connects the engine that a session runs on, as its record has it. The default engine may be another one since.
 *
 * @throws {RunClaudeError} ENGINE_UNREACHABLE; ENGINE_CHANGED where the configuration has another engine by that name;
 * USAGE where it has none
 */
export async function openEngineOf(
  { engine: recorded, policy }: Pick<Plan, 'engine' | 'policy'>,
  context: EngineContext,
  { answerMs, run }: { readonly answerMs?: number; readonly run?: JobRun } = {},
): Promise<Runtime> {
  const { on, endpoint } = recorded;
  if (goesToScheduler(policy)) {
    const queueLimitMs = answerMs === undefined ? undefined : QUEUE_LIMIT_MS;
    return openEngine({ engine: policy.engine, on: policy.on, run, queueLimitMs }, context);
  }
  if (on !== undefined) {
    const engine = await openEngine({ engine: policy.engine, on }, context, answerMs);
    if (isSameEngine(recorded, engine.facts)) return engine;
    await engine.close();
    throw new RunClaudeError(
      'ENGINE_CHANGED',
      `the session is on engine ${on} at ${endpoint}, and [engine.${on}] of config.toml is now ${engine.facts.endpoint}`,
      { hint: `Give the engine at ${engine.facts.endpoint} another name, and ${on} its earlier host.` },
    );
  }
  const usual = await openEngine(policy.engine, context, answerMs).catch((error: RunClaudeError) => error);
  if (!(usual instanceof Error) && isSameEngine(recorded, usual.facts)) return usual;
  // It was waited for once: it does not answer.
  if (usual instanceof Error && triesEndpoint(connectOptions(policy.engine, context), endpoint)) throw usual;
  try {
    const engine = await openRecorded({ engine: recorded, policy }, context, answerMs);
    if (!(usual instanceof Error)) await usual.close();
    return engine;
  } catch (error) {
    if (usual instanceof Error) throw usual;
    // A record of an earlier release does not say which engine it was: the address may have changed.
    if (recorded.id === undefined) return usual;
    await usual.close();
    throw error;
  }
}

/** An address without a name in the configuration. TLS needs files that a record does not have. */
async function openRecorded(
  { engine, policy }: Pick<Plan, 'engine' | 'policy'>,
  context: EngineContext,
  answerMs: number | undefined,
): Promise<Runtime> {
  const { endpoint } = engine;
  if (/^(unix|ssh):/.test(endpoint)) {
    const options = { ...connectOptions(policy.engine, context), only: { host: endpoint } };
    return connectEngine(answerMs === undefined ? options : { ...options, answerMs });
  }
  throw new RunClaudeError('ENGINE_UNREACHABLE', `the session is on the engine at ${endpoint}`, {
    hint: `Set DOCKER_HOST=${endpoint} and its certificates as at the start of the session, then try again.`,
  });
}

function connectOptions(choice: Policy['engine'], context: EngineContext): ConnectOptions {
  const { env, places } = context;
  return {
    choice,
    env,
    home: places.home,
    platform: process.platform,
    owner: ownerHere(context),
    makeDir: makeOwnedDir,
  };
}

/**
 * The numbers of which the user inside is chosen.
 * @throws {RunClaudeError} as findSpareId.
 */
export function userNumbers({ places }: Pick<CommandContext, 'places'>): UserNumbers {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return { uid, gid, spareId: findSpareId(places.stateDir, uid) };
}

/** The uid:gid inside a container that has no project. Throws as userNumbers does. */
export function userAlone({ facts }: Pick<Runtime, 'facts'>, context: Pick<CommandContext, 'places'>): string {
  const numbers = userNumbers(context);
  return chooseUser('host', facts, numbers, { ownerUid: numbers.uid, ownerGid: numbers.gid }).user;
}

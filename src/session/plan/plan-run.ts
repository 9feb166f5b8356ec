import { createHash } from 'node:crypto';
import { homeAgent, isPrintOnly, withPermissionMode } from '../../agents/agents.ts';
import { OVERSHOOT_MB } from '../../core/text/disk-room.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { AlsoFolder, HostFacts, Plan, Program, ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import { placeOf } from '../../engines/capabilities/columns.ts';
import { refuseUnsupported } from '../../engines/capabilities/refuse.ts';
import { refuseTests } from './asked-tests.ts';
import { refuseEngine } from './choose-engine.ts';
import { planEnvironment, type UserEnvironment } from './environment.ts';
import { refuseProject } from './refuse-project.ts';
import { chooseStrategy, needsTrial, type StrategyTrial, storageOf } from './strategy.ts';
import { chooseUser } from './user.ts';
import { weakenings } from './weakenings.ts';

/** What a session is asked to be, and facts of this machine and the engine. src/core/host/facts.ts gathers them. */
export interface PlanInput {
  readonly policy: Policy;
  readonly host: HostFacts;
  readonly project: ProjectFacts;
  readonly engine: EngineFacts;
  readonly program: Program;
  readonly userEnvironment: UserEnvironment;
  /** Other folders. */
  readonly also: readonly AskedFolder[];
  /** Names of MCP servers that the session starts without. */
  readonly leftOutServers?: readonly string[];
  /** As in the plan. */
  readonly task?: string | undefined;
}

/** Another folder, before its session has an id. */
export type AskedFolder = Omit<AlsoFolder, 'sessionId'>;

/** What a plan names and what has to be looked for: on this machine, on the engine and in the project. */
export interface PlanFindings extends Pick<Plan, 'sessionId' | 'environment' | 'caches'> {
  /** A number that no account has, from findSpareId. */
  readonly spareId: number;
  /** Numbers of run-claude's own containers that accounts of this machine have. */
  readonly servantIdsWithAccount: readonly number[];
  /** Ids of the sessions of `also`, in its order. */
  readonly alsoIds: readonly string[];
  /** The session's image. */
  readonly image: Pick<Plan, 'ownImage' | 'claudeVersion'> & { readonly tag: string };
  /** Undefined: not tried yet, or not needed. */
  readonly trial?: StrategyTrial | undefined;
}

const DEFAULT_DISK_MB = 20_480;
/** What an engine gives every program. */
const CONTAINER_UMASK = 0o022;

/** What is decided before anything is looked for on the engine. */
export interface PlanBasis extends Pick<Plan, 'user' | 'tty'> {
  /** Of the user. */
  readonly weakening?: string;
  /** Whether the strategy depends on the trial of an overlay volume. */
  readonly needsTrial: boolean;
}

/**
 * Refuses what no finding could allow, and decides what findings depend on. Pure.
 *
 * @throws {RunClaudeError} USAGE for a project that no agent may get, and for what the runtime does not support;
 * ENGINE_NO_LAYER, ENGINE_NO_RUNTIME, STRATEGY_UNUSABLE and others for an engine that cannot enforce the policy
 */
export function planBasis(input: PlanInput, { spareId }: Pick<PlanFindings, 'spareId'>): PlanBasis {
  const { policy, host, project, engine, program } = input;
  refuseProject(project.root, host);
  refuseEngine(engine, policy);
  refuseTests(policy);
  const tty = host.stdinTty && host.stdoutTty && program.kind !== 'kept' && !isPrintOnly(program);
  refuseUnsupported(placeOf(engine), { program, tty, agentLayer: homeAgent(program).image });
  const { strategy } = chooseStrategy(policy, engine, undefined);
  return {
    ...chooseUser(storageOf(strategy), engine, { ...host, spareId }, project),
    tty,
    needsTrial: needsTrial(strategy),
  };
}

/**
 * Decides everything about a session before anything of it starts. Pure. Nothing can change the plan afterwards: what is
 * printed is what runs.
 *
 * @throws {RunClaudeError} as planBasis; STRATEGY_UNUSABLE for a strategy that the user asked for and the trial ruled out
 */
export function planRun(input: PlanInput, findings: PlanFindings): Plan {
  const { policy, host, project, engine } = input;
  const { user, tty, weakening } = planBasis(input, findings);
  const { sessionId, alsoIds, image, environment, caches } = findings;
  const { strategy, reason } = chooseStrategy(policy, engine, findings.trial);
  // The agent can use what it makes, whatever the user's umask is.
  const umask = host.umask & 0o077;
  const also = input.also.map((folder, at) => ({ ...folder, sessionId: alsoIds[at] ?? '' }));
  return deepFreeze({
    sessionId,
    mode: policy.mode,
    project,
    policy,
    engine,
    image: image.tag,
    ...(image.ownImage === undefined ? {} : { ownImage: image.ownImage }),
    claudeVersion: image.claudeVersion,
    program: withPermissionMode(input.program, policy),
    tty,
    strategy,
    strategyReason: reason,
    user,
    ...(umask === CONTAINER_UMASK ? {} : { umask }),
    env: planEnvironment(policy, input.userEnvironment),
    diskMb:
      policy.diskMb ?? Math.min(DEFAULT_DISK_MB, wholeGb(Math.max(0, Math.floor(host.freeDiskMb / 2) - OVERSHOOT_MB))),
    ...(environment === undefined ? {} : { environment }),
    ...(caches === undefined ? {} : { caches }),
    sessionDir: `${host.stateDir}/sessions/${sessionId}`,
    baseDir: baseDirOf(host, project, policy),
    weakenings: [
      ...(weakening === undefined ? [] : [weakening]),
      ...sharedNumbers(engine, findings.servantIdsWithAccount),
      ...weakenings(policy, input.leftOutServers),
    ],
    ...(also.length === 0 ? {} : { also }),
    ...(input.task === undefined ? {} : { task: input.task }),
  });
}

/** Where users are mapped, or on another machine, the numbers are those of other accounts. */
function sharedNumbers({ local, rootless, usernsRemap }: EngineFacts, ids: readonly number[]): readonly string[] {
  if (!local || rootless || usernsRemap || ids.length === 0) return [];
  return [
    `an account of this machine has uid ${ids.join(' and ')}: it can end the gateway and programs next to the agent`,
  ];
}

/** The plan of the session that holds the changes of a folder next to the project: the same agent, another project. */
export function planOfFolder(plan: Plan, { project, sessionId }: AlsoFolder): Plan {
  // What a setup made belongs to the project, and the task of a batch to its session.
  const { also: _, environment: __, task: ___, ...shared } = plan;
  const beside = (place: string, name: string): string => `${place.slice(0, place.lastIndexOf('/'))}/${name}`;
  return {
    ...shared,
    sessionId,
    project,
    besideSession: plan.sessionId,
    sessionDir: beside(plan.sessionDir, sessionId),
    baseDir: beside(plan.baseDir, baseName(project, plan.policy)),
  };
}

/** The directory of the project's base: the copy that its sessions share. */
export function baseDirOf(host: HostFacts, project: ProjectFacts, policy: Policy): string {
  return `${host.cacheDir}/bases/${baseName(project, policy)}`;
}

function baseName({ root }: ProjectFacts, { shallow, copyIgnored }: Policy): string {
  return `${pathKey(root)}${shallow ? '-shallow' : ''}${copyIgnored === false ? '-no-ignored' : ''}`;
}

/** The value with everything in it, which nothing can change from then on. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const one of Object.values(Object.freeze(value))) deepFreeze(one);
  return value;
}

/** A default limit in whole gigabytes: '19g' is easier to read than '19739m'. */
function wholeGb(mb: number): number {
  return mb < 1024 ? mb : mb - (mb % 1024);
}

/** The first 16 hex digits of the SHA-256 of a real path: the name of its data in run-claude's directories. */
export function pathKey(realPath: string): string {
  return createHash('sha256').update(realPath).digest('hex').slice(0, 16);
}

import { createHash } from 'node:crypto';
import { isPrintOnly, withPermissionMode } from '../../agents/agents.ts';
import { OVERSHOOT_MB } from '../../core/text/disk-room.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { AlsoFolder, HostFacts, Plan, Program, ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import { planEnvironment, type UserEnvironment } from './environment.ts';
import { refuseEngine } from './refuse-engine.ts';
import { refuseProject } from './refuse-project.ts';
import { chooseStrategy, type StrategyTrial, storageOf } from './strategy.ts';
import { chooseUser } from './user.ts';
import { weakenings } from './weakenings.ts';

/** Everything that a plan depends on. src/core/host/facts.ts gathers the facts. */
export interface PlanInput {
  readonly sessionId: string;
  readonly policy: Policy;
  readonly host: HostFacts;
  /** A number that no account has, from findSpareId. */
  readonly spareId: number;
  /** Numbers of run-claude's own containers that accounts of this machine have. */
  readonly servantIdsWithAccount: readonly number[];
  readonly project: ProjectFacts;
  readonly engine: EngineFacts;
  /** The session's image. */
  readonly image: Pick<Plan, 'ownImage' | 'claudeVersion'> & { readonly tag: string };
  readonly program: Program;
  readonly userEnvironment: UserEnvironment;
  readonly also: readonly AlsoFolder[];
  /** Names of MCP servers that the session starts without. */
  readonly leftOutServers?: readonly string[];
  /** As in the plan. */
  readonly task?: string | undefined;
}

const DEFAULT_DISK_MB = 20_480;
/** What an engine gives every program. */
const CONTAINER_UMASK = 0o022;

/**
 * Decides everything about a session before anything starts. Pure.
 *
 * @throws {RunClaudeError} USAGE for a project that no agent may get; ENGINE_NO_LAYER, ENGINE_NO_RUNTIME, STRATEGY_UNUSABLE
 * and others for an engine that cannot enforce the policy
 */
export function planRun(input: PlanInput): Plan {
  const { policy, host, project, engine } = input;
  refuseProject(project.root, host);
  refuseEngine(engine, policy);
  const { strategy, reason } = chooseStrategy(policy, engine, undefined);
  const { user, weakening } = chooseUser(storageOf(strategy), engine, { ...host, spareId: input.spareId }, project);
  // The agent can use what it makes, whatever the user's umask is.
  const umask = host.umask & 0o077;
  return {
    sessionId: input.sessionId,
    mode: policy.mode,
    project,
    policy,
    engine,
    image: input.image.tag,
    ...(input.image.ownImage === undefined ? {} : { ownImage: input.image.ownImage }),
    claudeVersion: input.image.claudeVersion,
    program: withPermissionMode(input.program, policy),
    tty: host.stdinTty && host.stdoutTty && input.program.kind !== 'kept' && !isPrintOnly(input.program),
    strategy,
    strategyReason: reason,
    user,
    ...(umask === CONTAINER_UMASK ? {} : { umask }),
    env: planEnvironment(policy, input.userEnvironment),
    diskMb:
      policy.diskMb ?? Math.min(DEFAULT_DISK_MB, wholeGb(Math.max(0, Math.floor(host.freeDiskMb / 2) - OVERSHOOT_MB))),
    sessionDir: `${host.stateDir}/sessions/${input.sessionId}`,
    baseDir: baseDirOf(host, project, policy),
    weakenings: [
      ...(weakening === undefined ? [] : [weakening]),
      ...sharedNumbers(engine, input.servantIdsWithAccount),
      ...weakenings(policy, input.leftOutServers),
    ],
    ...(input.also.length === 0 ? {} : { also: input.also }),
    ...(input.task === undefined ? {} : { task: input.task }),
  };
}

/** Where users are mapped, or on another machine, the numbers are those of other accounts. */
function sharedNumbers({ local, rootless, usernsRemap }: EngineFacts, ids: readonly number[]): readonly string[] {
  if (!local || rootless || usernsRemap || ids.length === 0) return [];
  return [
    `an account of this machine has uid ${ids.join(' and ')}: it can end the gateway and programs beside the agent`,
  ];
}

/**
 * The plan with what the trial found; unchanged without one. Nothing else in a plan depends on it.
 *
 * @throws {RunClaudeError} STRATEGY_UNUSABLE when the user asked for a strategy that does not work.
 */
export function withTrial(plan: Plan, trial: StrategyTrial | undefined): Plan {
  const { strategy, reason } = chooseStrategy(plan.policy, plan.engine, trial);
  return { ...plan, strategy, strategyReason: reason };
}

/** The plan of the session that holds the changes of a folder beside the project: the same agent, another project. */
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

/** A default limit in whole gigabytes: '19g' is easier to read than '19739m'. */
function wholeGb(mb: number): number {
  return mb < 1024 ? mb : mb - (mb % 1024);
}

/** The first 16 hex digits of the SHA-256 of a real path: the name of its data in run-claude's directories. */
export function pathKey(realPath: string): string {
  return createHash('sha256').update(realPath).digest('hex').slice(0, 16);
}

import { instanceRoot } from '../../../agents/claude/instances/instance.ts';
import type { InstanceFacts } from '../../../agents/claude/instances/list.ts';
import type { HostFacts } from '../../../core/types/plan.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { ownerState, type UnreadableSession } from '../../record/session.ts';

export const DAY_MS = 86_400_000;
/** How long records, pre-images and unused bases are kept: an undo works for as long. */
export const KEPT_MS = 30 * DAY_MS;
/** An engine object that is younger may belong to a session that has no record yet. */
export const YOUNG_MS = 60 * 60_000;

/** One thing that gc would remove, or did. */
export interface GcItem {
  readonly kind:
    | 'session'
    | 'batch'
    | 'layer'
    | 'instance'
    | 'base'
    | 'environment'
    | 'seed'
    | 'cache'
    | 'container'
    | 'volume'
    | 'network'
    | 'image';
  readonly name: string;
  /** Name of the engine that it is on, in the configuration; undefined for the default engine and for what is here. */
  readonly engine?: string;
  /** For the user: 'applied 41 days ago', 'its project /x no longer exists'. */
  readonly why: string;
}

export interface GcOptions {
  readonly places: Pick<HostFacts, 'stateDir' | 'cacheDir' | 'dataDir'>;
  /** The default engine; undefined when it does not answer: its objects are left for the next gc. */
  readonly engine: Runtime | undefined;
  /** Other engines that answer. */
  readonly others?: readonly Runtime[];
  /** Called with an engine of `others` that stopped answering: its objects are left for the next gc. */
  readonly onLost?: (engine: Runtime) => void;
  readonly nowMs: number;
  /** Images that the next session may use. */
  readonly currentImages: readonly string[];
}

export interface Removal extends GcItem {
  readonly remove: () => Promise<void>;
}

/** What must not be removed, and all instances. */
export interface Known {
  readonly kept: readonly SessionRecord[];
  readonly unreadable: readonly UnreadableSession[];
  /** Ids of sessions without a readable record: nothing of them is removed. */
  readonly unknown: readonly string[];
  readonly instances: readonly InstanceFacts[];
}

/** Whether the user decided about a session, or it failed before it held anything, and no command works on it. */
export function isFinished(session: SessionRecord): boolean {
  return ownerState(session) === 'ended' && ['applied', 'discarded', 'failed'].includes(session.stage);
}

/** Claude's data of projects that no longer exist, without a pending session. */
export function unusedInstances({ instances, kept, unreadable }: Known): InstanceFacts[] {
  // A session that cannot be read may be a pending one of any of these projects.
  if (unreadable.length > 0) return [];
  return instances.filter((one) => one.state === 'deleted' && unfinishedSessions(one, kept).length === 0);
}

/** Ids of the sessions for which the data of a project that no longer exists is kept: those that a user has to finish. */
export function unfinishedSessions(
  { root }: Pick<InstanceFacts, 'root'>,
  sessions: readonly SessionRecord[],
): string[] {
  const isOfInstance = ({ project, plan }: SessionRecord): boolean =>
    project === root || instanceRoot(project, plan.project.gitCommonDir) === root;
  return sessions.filter((session) => isOfInstance(session) && !isFinished(session)).map(({ id }) => id);
}

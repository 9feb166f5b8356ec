import type { TreeReader } from '../types/collector.ts';
import type { Engine, Mount } from '../types/engine.ts';
import type { ChangeKind, Collected } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { RelPath } from '../types/path.ts';
import type { Plan } from '../types/plan.ts';
import type { MatchRenames } from '../types/rename.ts';
import type { BaseTree } from './base-tree.ts';
import type { LiveReader } from './live.ts';
import type { TakeLook } from './look-ahead.ts';

/** What opening a workspace needs; all of it is handed in. */
export interface WorkspaceOptions {
  readonly plan: Plan;
  readonly engine: Engine;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
  /** A look at the project that the command began with. */
  readonly ahead?: TakeLook | undefined;
  /** Trees besides the workspace that the session's reader can read, such as the agent's home. */
  readonly roots?: readonly ReaderRoot[];
}

export interface ReaderRoot {
  /** Name for {@link TreeReader}: 'home'. Short lower-case letters; 'base', 'upper', 'merged', 'layer' are taken. */
  readonly name: string;
  /** Mounted read-only into the collector whatever it says; its target is not looked at. */
  readonly mount: Mount;
}

/** One change as the live view shows it: no content, nothing frozen. */
export interface LiveChange {
  readonly path: RelPath;
  readonly kind: ChangeKind | 'unreadable';
  readonly size: number;
  /** Another one after every write. */
  readonly stamp: string;
}

export interface DiskHooks {
  /** The limit, or the reserve of free space, is reached: pause or stop. Once until {@link DiskHooks.fell} or allowMore. */
  reached(why: string): void;
  /** Below the limit again (after a person freed space). */
  fell(): void;
}

export interface DiskWatch {
  /** A person lets the session go on: twice as much, half the reserve. */
  allowMore(): void;
  stop(): void;
}

/** The session's own view of the project. */
export interface Workspace {
  /** For the agent's container. */
  readonly mounts: readonly Mount[];
  /** For session.json; what {@link WorkspaceOptions} and this give back is a workspace again. */
  readonly record: unknown;
  /** Roots 'base', 'upper', 'merged' (strategy and engine permitting) and those asked for. */
  readonly reader: TreeReader;
  /** The base, for what need not be asked of the collector. */
  readonly base: BaseTree;
  /** Starts the reader, which nothing needs before the agent runs: the two containers need not wait for each other. */
  wake(): Promise<void>;
  /** Bytes and entries that the session has written so far. */
  usage(): Promise<{ readonly bytes: number; readonly entries: number }>;
  /** For people who watch: what has changed so far, by metadata, as often as it is asked. */
  watchChanges(): Promise<LiveReader>;
  /** Polls the disk until it is stopped. */
  watchDisk(hooks: DiskHooks): DiskWatch;
  /** After the last writer's end: what changed, frozen in the session's store; with `match` what was renamed too. */
  collect(match?: MatchRenames): Promise<Collected>;
  /** Ends the collector; the layer stays unless it is to be removed. Never throws for what is gone already. */
  close(options: { readonly keepLayer: boolean }): Promise<void>;
}

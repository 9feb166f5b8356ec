import type { ListedEntry } from '../../core/types/collector.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { TakePrescan } from '../base/prescan.ts';
import type { Collector } from '../collector/client.ts';
import type { ReaderRoot } from '../collector/container.ts';

/** What opening a workspace needs. */
export interface WorkspaceOptions {
  readonly plan: Plan;
  readonly engine: Runtime;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
  /** A scan of the project that the command began with. */
  readonly prescan?: TakePrescan | undefined;
  /** Trees besides the workspace that the session's collector can read, such as the agent's home. */
  readonly roots?: readonly ReaderRoot[];
}

/** What a session touched, before it is compared with the base. */
export interface Delta {
  /** Entries that the session made or may have changed, parents first. */
  readonly present: readonly ListedEntry[];
  /** Paths that were deleted with everything below them. */
  readonly deleted: readonly string[];
  /** Directories that hide everything that the base has below them, except the entries in `present`. */
  readonly opaque: readonly string[];
}

/** Where a collector finds both sides of a layer; a second collector may read them next to the session's own. */
export interface LayerView {
  /** What the collector mounts. */
  readonly roots: readonly ReaderRoot[];
  /** Names for the collector: root to the path inside that mount. */
  readonly places: Readonly<Record<string, string>>;
  /** Root to the content of its `nonce` file, which proves that the collector reads this layer and this base. */
  readonly nonces: Readonly<Record<string, string>>;
  /** What the session touched so far; final once its last writer has ended. */
  delta(collector: Collector): Promise<Delta>;
}

/** A session's writable view of a base generation. */
export interface Layer extends LayerView {
  /** For the agent's container. */
  readonly mounts: readonly Mount[];
  /** Those of `mounts` that the engine may prune while no container mounts them. */
  readonly prunable: readonly Mount[];
  /** Reads what has to be known of the layer before the agent starts. */
  begin?(collector: Collector): Promise<void>;
  /** Removes what the engine holds; with `keep` the layer itself stays. */
  close(keep: boolean): Promise<void>;
}

/** What a scratch layer shows: the project with the session's changes, or as it was before them. */
export type ScratchOver = 'session' | 'base';

/** A view of an ended session's files that leaves the session's layer as it is. */
export interface ScratchLayer {
  readonly mounts: readonly Mount[];
  /** Whether it can be written to; what is written is discarded with it. */
  readonly writable: boolean;
  close(): Promise<void>;
}

import type { TakeLook } from '../base/prescan.ts';
import type { Collector } from '../collector/client.ts';
import type { ReaderRoot } from '../collector/container.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Engine, Mount } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { Plan } from '../types/plan.ts';
import type { StrategyName } from '../types/policy.ts';

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

/** What a session touched, before it is compared with the base. */
export interface Delta {
  /** Entries that the session made or may have changed, parents first. */
  readonly present: readonly ListedEntry[];
  /** Paths that are gone with everything below them. */
  readonly gone: readonly string[];
  /** Directories that hide what the base has below, except what is present. */
  readonly opaque: readonly string[];
}

/** Where both sides of a layer can be read, also by a second reader beside a running session. */
export interface LayerView {
  /** What the collector mounts for it. */
  readonly roots: readonly ReaderRoot[];
  /** Names for the collector: root to the path inside that mount. */
  readonly places: Readonly<Record<string, string>>;
  /** Read through the collector to show that it reads this layer and this base: root to what its `nonce` holds. */
  readonly nonces: Readonly<Record<string, string>>;
  /** What the session touched so far; the truth once its last writer has ended. */
  delta(collector: Collector): Promise<Delta>;
  /** Where the base side is no snapshot: answers which paths of it changed since the session began. */
  moved?(): Promise<(path: string) => boolean>;
}

/** A session's writable view of a base generation; one for each strategy. */
export interface Layer extends LayerView {
  readonly strategy: StrategyName;
  /** For the agent's container. */
  readonly mounts: readonly Mount[];
  /** What has to be read before the agent starts; undefined where nothing is. */
  begin?(collector: Collector): Promise<void>;
  /** Takes down what the engine holds; with `keep` the directories stay. */
  close(keep: boolean): Promise<void>;
}

import type { ListedEntry } from '../types/collector.ts';
import type { Mount } from '../types/engine.ts';
import type { StrategyName } from '../types/policy.ts';
import type { Collector } from './collector.ts';
import type { ReaderRoot } from './workspace.ts';

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

import type { ContentStore } from '../../../core/store/content.ts';
import type { SetMembers } from '../../../core/types/change/file-set.ts';
import type { MatchRenames } from '../../../core/types/change/rename.ts';
import type { Tell } from '../../../core/types/event.ts';
import type { Collector } from '../../collector/client.ts';
import type { Delta } from '../../layer/layer.ts';
import type { Lacking } from '../../scan/lacking.ts';
import type { FrozenFiles } from './frozen-files.ts';

/** What the collection finds out about changes that belong together. */
export interface CollectRules {
  /** Finds renames, also those into withheld files. Undefined: renames are not searched for. */
  readonly match?: MatchRenames;
  /** Finds the other files of things in several files. Undefined: they are not searched for. */
  readonly members?: SetMembers;
}

export interface CollectChangesOptions extends CollectRules {
  readonly collector: Collector;
  readonly delta: Delta;
  readonly store: ContentStore;
  readonly frozen: FrozenFiles;
  /** What the session's copy lacks: a change of it is blocked. */
  readonly lacking: Lacking;
  /** Files with decoys: a change of one is not brought back. */
  readonly masked?: readonly string[];
  /** As Policy.includeIgnored. */
  readonly includeIgnored: boolean | readonly string[];
  /** A setup made files in the project, which the collector reads at its own root: they are ignored output. */
  readonly hasSetup?: boolean;
  readonly baseEntries: number;
  /** Limit for the sizes of all sparse files together: the limit of what a session may write (--disk). */
  readonly sparseBytes: number;
  /** Free bytes on the disk of the store. */
  room(): Promise<number>;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
}

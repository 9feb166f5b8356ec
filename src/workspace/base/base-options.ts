import type { Selection } from '../../core/text/selection.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Graft } from '../scan/list-directories.ts';
import type { TakePrescan } from './prescan.ts';
import type { Owner } from './refresh/touched-directories.ts';

/** Which base is prepared, of which project, and for which session. */
export interface BaseOptions {
  /** Of this project: `$XDG_CACHE_HOME/run-claude/bases/<16 hex>`. */
  readonly dir: string;
  readonly project: string;
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly selection: Selection;
  /** Patterns of files whose secrets the agent may read. */
  readonly unmask?: readonly string[];
  /** Owner of the files inside, where it is not this process's user. */
  readonly owner: Owner | undefined;
  readonly sessionId: string;
  /** Of the session: its reference is void when this directory no longer exists. */
  readonly sessionDir: string;
  readonly verify: boolean;
  /** Whether the kernel may lay a new generation over another one. */
  readonly stack: boolean;
  readonly tell: Tell;
  readonly signal?: AbortSignal;
  /** A scan of the project that was begun earlier; used only if it ended a moment ago. */
  readonly prescan?: TakePrescan;
}

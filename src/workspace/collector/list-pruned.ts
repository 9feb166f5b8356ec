import { isInDotGit } from '../../core/git/names.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import { type Collector, entriesIn } from './client.ts';

export interface PrunedList {
  /** Parents before children, without entries of git's own directories and of those that were skipped. */
  readonly entries: readonly ListedEntry[];
  /** Every directory lists the same as the time before. */
  readonly same: boolean;
}

/** One directory as it was listed last. */
interface ListedDirectory {
  readonly bytes: Buffer;
  readonly entries: readonly ListedEntry[];
}

/** Lists under way at once. */
const AT_ONCE = 64;
const ENTRIES_MAX = 4_000_000;

/**
 * Lists a root again and again, level by level, without the directories that `goDown` refuses. The bytes of a directory
 * that are the same as before are not parsed again. For a tree that is being written: a directory that is removed while
 * it is listed counts as empty.
 */
export function prunedLister(
  collector: Pick<Collector, 'listBytes'>,
  root: string,
  goDown: (dir: string) => Promise<boolean>,
): () => Promise<PrunedList> {
  let before: ReadonlyMap<string, ListedDirectory> = new Map();
  return async () => {
    const now = new Map<string, ListedDirectory>();
    const found: ListedEntry[] = [];
    let same = before.size > 0;
    let left = ENTRIES_MAX;
    for (let level = ['']; level.length > 0; ) {
      const next: string[] = [];
      for (let at = 0; at < level.length; at += AT_ONCE) {
        const dirs = level.slice(at, at + AT_ONCE);
        const listing = await Promise.all(dirs.map((dir) => bytesOf(collector, root, dir, left)));
        for (const [index, bytes] of listing.entries()) {
          const dir = dirs[index] as string;
          const known = before.get(dir);
          const listed = known?.bytes.equals(bytes) === true ? known : { bytes, entries: entriesIn(bytes) };
          if (listed !== known) same = false;
          now.set(dir, listed);
          left -= listed.entries.length;
          for (const entry of listed.entries) {
            // Git's own bookkeeping is never applied, and is written all the time.
            if (isInDotGit(entry.path)) continue;
            found.push(entry);
            if (entry.kind === 'dir' && entry.problem === undefined && (await goDown(entry.path)))
              next.push(entry.path);
          }
        }
      }
      level = next;
    }
    before = now;
    return { entries: found, same };
  };
}

async function bytesOf(
  collector: Pick<Collector, 'listBytes'>,
  root: string,
  dir: string,
  max: number,
): Promise<Buffer> {
  try {
    return await collector.listBytes(root, dir, max);
  } catch (error) {
    if ((error as { code?: string }).code !== 'COLLECTOR_READ') throw error;
    return Buffer.alloc(0);
  }
}

import { chmodSync, chownSync, mkdirSync, utimesSync } from 'node:fs';
import { settableTimeOfMs } from '../../../core/store/file-time.ts';
import { parentPath } from '../../../core/text/path.ts';
import type { Row } from '../../scan/packed-directory.ts';
import { rowAt } from '../../scan/snapshot.ts';
import type { WalkedTree } from '../../scan/walk.ts';

/** Who the files of a tree belong to. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Path on the host of an entry of the tree; '' is its root. */
export type PathInTree = (path: string) => string | Buffer;

/** The directories of a tree that a refresh made, or changed something in. Each gets its owner, mode and time at the end. */
export class TouchedDirectories {
  readonly #at: PathInTree;
  /**
   * By path: the row to be set, where the refresh knows it already. The root is always here: nothing differs in an empty
   * project, and its root has an owner and a mode all the same.
   */
  readonly #touched = new Map<string, Row | undefined>([['', undefined]]);
  readonly #made = new Set(['']);

  constructor(at: PathInTree) {
    this.#at = at;
  }

  /** Records that an entry of the directory changes. */
  touch(path: string): void {
    if (!this.#touched.has(path)) this.#touched.set(path, undefined);
  }

  /** Makes a directory of the project, unless it was made here or `exists`. */
  make(path: string, row: Row, exists: boolean): void {
    if (!exists && !this.#made.has(path)) mkdirSync(this.#at(path), { mode: 0o700 });
    this.#made.add(path);
    this.#touched.set(path, row);
  }

  /** Makes the directories above a path, in a tree that holds only what differs. */
  makeParents(path: string): void {
    const parent = parentPath(path);
    if (this.#made.has(parent)) return;
    this.makeParents(parent);
    mkdirSync(this.#at(parent), { mode: 0o700 });
    this.#made.add(parent);
    this.touch(parent);
  }

  /** Sets owner, mode and time. Deepest first, after all else: what is done in a directory changes its time. */
  finish({ rootRow, snapshot }: WalkedTree, owner: Owner | undefined): void {
    for (const [path, known] of [...this.#touched].reverse().sort((a, b) => b[0].length - a[0].length)) {
      const row = known ?? (path === '' ? rootRow : rowAt(snapshot, path));
      if (row?.kind !== 'd') continue;
      if (owner !== undefined) chownSync(this.#at(path), owner.uid, owner.gid);
      chmodSync(this.#at(path), row.mode);
      utimesSync(this.#at(path), settableTimeOfMs(row.mtimeMs), settableTimeOfMs(row.mtimeMs));
    }
  }
}

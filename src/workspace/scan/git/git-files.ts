import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { rewriteConfig } from '../../../core/git/config-write.ts';
import { withoutPackedStash } from '../../../core/git/layout.ts';
import { type CopiedPlaces, isOfMainTree, rewritePointer, rewriteWorkTree } from '../../../core/git/pointers.ts';
import { decodeBytes, encodeBytes } from '../../../core/text/path.ts';
import type { Row } from '../packed-directory.ts';

/** A file of git's as the copy has it. */
export interface Rewritten {
  readonly bytes: Buffer;
  /** Keys and tokens that were removed from a configuration, named. */
  readonly dropped: readonly string[];
}

/** A configuration or pointer at `entry` as the copy has it, from what the host has at `source`. */
export function rewriteGitFile(entry: string, source: string, bytes: Buffer, places: CopiedPlaces): Rewritten {
  if (/^config(\.worktree)?$/.test(path.posix.basename(entry))) {
    const from = path.dirname(source);
    const { text, dropped } = rewriteConfig(bytes.toString('utf8'), {
      isOfMainTree: isOfMainTree(entry, from, places),
      workTree: (value) => rewriteWorkTree(entry, value, from, places),
    });
    return { bytes: Buffer.from(text), dropped };
  }
  if (path.posix.basename(entry) === 'packed-refs')
    return { bytes: Buffer.from(withoutPackedStash(bytes.toString('latin1')), 'latin1'), dropped: [] };
  const text = rewritePointer(entry, decodeBytes(bytes), path.dirname(source), places);
  return { bytes: encodeBytes(text), dropped: [] };
}

/**
 * The bytes of a file that is still what the walk saw. Throws ENOENT when it is not: a session in bind mode may put a
 * link to any place there.
 */
export function readAsWalked(source: string | Buffer, { ino, dev, ctimeMs }: Row): Buffer {
  const file = openSync(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    const same = stat.isFile() && stat.ino === ino && stat.dev === dev && stat.ctimeMs === ctimeMs;
    if (!same) throw Object.assign(new Error('replaced'), { code: 'ENOENT', syscall: 'open' });
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

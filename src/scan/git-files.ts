import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { rewriteConfig } from '../git/config-write.ts';
import { type CopiedPlaces, rewritePointer } from '../git/pointers.ts';
import { decodeBytes, encodeBytes } from '../text/path.ts';
import type { Row } from './packed-directory.ts';

/** What a file of git's is in the copy. */
export interface Rewritten {
  readonly bytes: Buffer;
  /** Keys and tokens that a configuration lost, named. */
  readonly dropped: readonly string[];
}

/** A configuration or pointer at `entry` as the copy has it, from what the host has at `source`. */
export function rewriteGitFile(entry: string, source: string, bytes: Buffer, places: CopiedPlaces): Rewritten {
  if (/^config(\.worktree)?$/.test(path.posix.basename(entry))) {
    const { text, dropped } = rewriteConfig(bytes.toString('utf8'));
    return { bytes: Buffer.from(text), dropped };
  }
  const text = rewritePointer(entry, decodeBytes(bytes), path.dirname(source), places);
  return { bytes: encodeBytes(text), dropped: [] };
}

/**
 * Throws as if it were gone when it is not what was walked: a session in bind mode may put a link to anywhere in its
 * place.
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

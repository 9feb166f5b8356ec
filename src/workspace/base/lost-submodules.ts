import { readFileSync } from 'node:fs';
import path from 'node:path';
import { decodeBytes } from '../../core/text/path.ts';
import { packRows, rowNamed, rowsOf } from '../scan/packed-directory.ts';
import { fsPath, type WalkedTree } from '../scan/walk.ts';

const POINTER = /^gitdir: ([^\r\n]+)/;
/** git keeps the repositories of submodules in a directory of this name. */
const OF_SUBMODULE = /\/modules\//;

/**
 * The walked tree without the `.git` files of submodules whose repository the copy does not have, as with --shallow: git
 * takes such a submodule for one that was never fetched. With the file, `git status` and `git add` would fail in the whole
 * copy.
 */
export function withoutLostSubmodules(walked: WalkedTree): WalkedTree {
  const lost = [...walked.snapshot].filter(
    ([dir, section]) => dir !== '' && rowNamed(section, '.git')?.kind === 'g' && isLost(dir, walked),
  );
  if (lost.length === 0) return walked;
  const snapshot = new Map(walked.snapshot);
  for (const [dir, section] of lost)
    snapshot.set(dir, packRows([...rowsOf(section)].filter(({ name }) => name !== '.git')));
  return { ...walked, snapshot };
}

function isLost(dir: string, walked: WalkedTree): boolean {
  const entry = `${dir}/.git`;
  let bytes: Buffer;
  try {
    bytes = readFileSync(fsPath(walked.sourceOf(entry)));
  } catch {
    // Where it is copied that is noticed, and reported.
    return false;
  }
  const named = POINTER.exec(decodeBytes(walked.rewrite(entry, bytes).bytes))?.[1];
  if (named === undefined || !OF_SUBMODULE.test(path.resolve(path.dirname(walked.sourceOf(entry)), named)))
    return false;
  return !walked.snapshot.has(path.posix.join(dir, named));
}

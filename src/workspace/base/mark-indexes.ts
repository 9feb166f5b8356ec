import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseConfig } from '../../core/git/config-parse.ts';
import { markIndex } from '../../core/git/mark-index.ts';
import { isInDotGit } from '../../core/git/names.ts';
import { decodeBytes, nameOfPath, parentPath } from '../../core/text/path.ts';
import type { Lacking } from '../scan/lacking.ts';
import { packRows, type Row, readRows, rowsOf, type Section } from '../scan/packed-directory.ts';
import { fsPath, type WalkedTree } from '../scan/walk.ts';

/** Printed with the keys of a configuration that the copy does not have. */
const NOT_MARKED = 'marks of files that the copy lacks (a split or damaged index)';

/**
 * The walked tree with every index of git in it marked: `git add -A` inside passes over what the copy lacks. An index is
 * rewritten like a configuration of git's. Its row holds a number of what is lacking in place of the count of its links, so
 * that it differs where an index is the same and the rules are not.
 */
export function markIndexes(walked: WalkedTree, lacking: Lacking): WalkedTree {
  if (lacking.key === '') return walked;
  const snapshot = new Map(walked.snapshot);
  const indexes = new Map<string, Repository>();
  for (const [dir, section] of walked.snapshot) {
    if (!isInDotGit(dir)) continue;
    const repository = repositoryAt(dir, section, walked);
    if (repository === undefined) continue;
    indexes.set(`${dir}/index`, repository);
    const nlink = numberOf(lacking.key);
    const rows = [...rowsOf(section)].map((row): Row => (row.name === 'index' ? { ...row, kind: 'g', nlink } : row));
    snapshot.set(dir, packRows(rows));
  }
  return {
    ...walked,
    snapshot,
    rewrite(entry, bytes) {
      const found = indexes.get(entry);
      if (found === undefined) return walked.rewrite(entry, bytes);
      const { top, objectNameBytes } = found;
      const lackOf = (own: string) => lacking.lackOf(top === '' ? own : `${top}/${own}`);
      const marked = markIndex(bytes, lackOf, objectNameBytes);
      return marked === undefined ? { bytes, dropped: [NOT_MARKED] } : { bytes: marked, dropped: [] };
    },
  };
}

function numberOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() + 2;
}

/** A repository whose work tree is in the walked tree. */
interface Repository {
  /** Its work tree's path; '' is the project itself. */
  readonly top: string;
  readonly objectNameBytes: 20 | 32;
}

/** The repository of a directory of git's that has an index; undefined for any other directory. */
function repositoryAt(dir: string, section: Section, walked: WalkedTree): Repository | undefined {
  const rows = readRows(section);
  if (rows.get('index')?.kind !== 'f' || !rows.has('HEAD')) return undefined;
  const isLinked = rows.has('commondir');
  if (!isLinked && rows.get('objects')?.kind !== 'd') return undefined;
  const common = isLinked ? parentPath(parentPath(dir)) : dir;
  const settings = parseConfig(textAt(`${common}/config`, walked)).entries;
  const setting = (key: string): string | undefined => settings.findLast((one) => one.key === key)?.value;
  const objectNameBytes = setting('extensions.objectformat') === 'sha256' ? 32 : 20;
  const top = isLinked
    ? topOfLinked(dir, walked)
    : nameOfPath(dir) === '.git'
      ? parentPath(dir)
      : topOfModule(dir, setting('core.worktree'), walked);
  return top === undefined ? undefined : { top, objectNameBytes };
}

/** Of a linked work tree, whose `gitdir` names its `.git` file. */
function topOfLinked(dir: string, walked: WalkedTree): string | undefined {
  const named = textAt(`${dir}/gitdir`, walked).trim();
  if (named === '') return undefined;
  return inTree(path.dirname(path.resolve(path.dirname(walked.sourceOf(`${dir}/gitdir`)), named)), walked);
}

/** Of a submodule, whose configuration names its work tree. */
function topOfModule(dir: string, worktree: string | undefined, walked: WalkedTree): string | undefined {
  if (worktree === undefined) return undefined;
  return inTree(path.resolve(path.dirname(walked.sourceOf(`${dir}/config`)), worktree), walked);
}

/** The path in the tree of a directory on the host; undefined where it is elsewhere. */
function inTree(place: string, walked: WalkedTree): string | undefined {
  const root = path.dirname(walked.sourceOf('x'));
  if (place === root) return '';
  return place.startsWith(`${root}/`) ? place.slice(root.length + 1) : undefined;
}

/** '' for what cannot be read: the copy of it is made, or missed, where the tree is copied. */
function textAt(entry: string, walked: WalkedTree): string {
  try {
    return decodeBytes(readFileSync(fsPath(walked.sourceOf(entry))));
  } catch {
    return '';
  }
}

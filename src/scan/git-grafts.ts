import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Graft } from './list-directories.ts';
import { objectStores } from './object-stores.ts';
import { rowAt, type Snapshot } from './snapshot.ts';

/** What belongs to one worktree, not to the repository that it shares (gitrepository-layout(5)). */
const OF_A_WORKTREE = [
  'HEAD',
  'index',
  'ORIG_HEAD',
  'FETCH_HEAD',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'MERGE_MSG',
  'MERGE_MODE',
  'AUTO_MERGE',
  'COMMIT_EDITMSG',
  'config.worktree',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'worktrees',
  'gitdir',
];
const POINTERS = ['commondir', 'gitdir', 'locked'];

/** Only in what is named `.git`, which no checkout makes: a project may bring along a bare repository of any content. */
const OF_GIT = /(^|\/)\.git\//;
/** Of a directory of git's objects: all else in one that a repository names is not git's, and may be anything. */
const OBJECTS = /^(pack|[0-9a-f]{2})$/;
const PACKS = /^(pack-|multi-pack-index)/;
/** What tells of other directories: it would not be true in the copy, where all lies in one. */
const OF_SEVERAL = ['alternates', 'http-alternates', 'commit-graphs'];

/**
 * Where the content of `.git` comes from when it does not all lie there. When it is a file, the copy gets a
 * self-contained directory, put together from the linked worktree's own and the shared one, or the submodule's. Empty
 * when there is no `.git`, or nothing elsewhere.
 */
export function gitGrafts(project: string): ReadonlyMap<string, readonly Graft[]> {
  const own = gitDirOf(project);
  if (own === undefined || own === path.join(project, '.git')) return new Map();
  const common = readText(path.join(own, 'commondir'));
  const shared = common === undefined ? own : path.resolve(own, common.trim());
  // As git looks at it: a project may name any directory of the person's.
  if (!['objects', 'refs'].every((name) => isDirectory(path.join(shared, name)))) return new Map();
  const grafts: Graft[] = [{ source: own, without: POINTERS }];
  // A worktree that has submodules has repositories of its own for them: not to be mixed with those of the main one.
  const modules = isDirectory(path.join(own, 'modules')) ? ['modules'] : [];
  if (shared !== own) grafts.push({ source: shared, without: [...OF_A_WORKTREE, ...modules] });
  return new Map([['.git', grafts]]);
}

/**
 * Objects that the repositories of a walked tree borrow from others lie among their own: the project's, those of its
 * submodules, those inside it. By the path of each directory that is put together: the `objects` first, then those in it.
 */
export function borrowedObjects(
  snapshot: Snapshot,
  sourceOf: (entry: string) => string,
): ReadonlyMap<string, readonly Graft[]> {
  const grafts = new Map<string, readonly Graft[]>();
  for (const info of snapshot.keys()) {
    if (!info.endsWith('/objects/info') || !OF_GIT.test(info)) continue;
    if (rowAt(snapshot, `${info}/alternates`)?.kind !== 'f') continue;
    const at = path.posix.dirname(info);
    const objects = sourceOf(at);
    const borrowed = objectStores(objects).slice(1);
    if (borrowed.length === 0) continue;
    const lent = borrowed.map((dir) => only(dir, OBJECTS));
    const lentPacks = borrowed.map((dir) => only(path.join(dir, 'pack'), PACKS));
    grafts.set(at, [{ source: objects, without: [] }, ...lent]);
    grafts.set(info, [{ source: path.join(objects, 'info'), without: OF_SEVERAL }]);
    grafts.set(`${at}/pack`, [{ source: path.join(objects, 'pack'), without: [] }, ...lentPacks]);
  }
  return grafts;
}

function only(source: string, names: RegExp): Graft {
  try {
    return { source, without: readdirSync(source).filter((name) => !names.test(name)) };
  } catch {
    // The walk cannot list it either, and says so.
    return { source, without: [] };
  }
}

/** The directory that a project's `.git` is or names; undefined when there is none. */
export function gitDirOf(project: string): string | undefined {
  const file = path.join(project, '.git');
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return file;
  if (stat === undefined || !stat.isFile() || stat.size > 65_536) return undefined;
  const pointer = /^gitdir: ([^\n]+)\n?$/.exec(readFileSync(file, 'utf8'))?.[1];
  const own = pointer === undefined ? undefined : path.resolve(project, pointer);
  return own !== undefined && isDirectory(own) ? own : undefined;
}

function isDirectory(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readText(file: string): string | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size < 65_536 ? readFileSync(file, 'utf8') : undefined;
}

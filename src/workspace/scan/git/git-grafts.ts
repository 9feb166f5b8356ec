import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isSharedEntry, PRIVATE_IN_SHARED } from '../../../core/git/layout.ts';
import { namesIn } from '../../../core/host/files/names-in.ts';
import type { Graft } from '../list-directories.ts';
import { rowAt, type Snapshot } from '../snapshot.ts';
import { objectStores } from './object-stores.ts';

const POINTERS = ['commondir', 'gitdir', 'locked'];

/** Only in what is named `.git`, which no checkout makes: a project may bring along a bare repository of any content. */
const OF_GIT = /(^|\/)\.git\//;
/** Names in a directory of objects: anything else in a directory that a repository names is not git's. */
const OBJECTS = /^(pack|[0-9a-f]{2})$/;
const PACKS = /^(pack-|multi-pack-index)/;
/** Files that name other directories: they would be wrong in the copy, which has everything in one directory. */
const NAMES_OF_STORES = ['alternates', 'http-alternates', 'commit-graphs'];

/**
 * Where the content of `.git` comes from, where some of it is in other directories. For a `.git` file the copy gets a
 * self-contained directory, made of the linked worktree's own and the shared one, or of the submodule's. Empty without a
 * `.git`, or when all of it is in the project.
 */
export function gitGrafts(project: string): ReadonlyMap<string, readonly Graft[]> {
  const own = gitDirOf(project);
  if (own === undefined || own === path.join(project, '.git')) return new Map();
  const shared = commonDirOf(own);
  // The same check as git's: a project may name any directory of the user's.
  if (!['objects', 'refs'].every((name) => isDirectory(path.join(shared, name)))) return new Map();
  if (shared === own) return new Map([['.git', [{ source: own, without: POINTERS }]]]);
  return worktreeGrafts(own, shared);
}

/** A linked worktree's own entries, and of the shared ones those that it uses. */
function worktreeGrafts(own: string, shared: string): ReadonlyMap<string, readonly Graft[]> {
  // A worktree that has submodules has repositories of its own for them: not to be mixed with those of the main one.
  const modules = isDirectory(path.join(own, 'modules')) ? ['modules'] : [];
  const foreign = namesIn(shared).filter((name) => !isSharedEntry(name));
  const grafts = new Map<string, readonly Graft[]>([
    [
      '.git',
      [
        { source: own, without: POINTERS },
        { source: shared, without: [...foreign, 'worktrees', ...modules] },
      ],
    ],
  ]);
  for (const [dir, without] of PRIVATE_IN_SHARED) {
    const both = [
      { source: path.join(own, dir), without: [] },
      { source: path.join(shared, dir), without },
    ];
    const found = both.filter(({ source }) => isDirectory(source));
    if (found.length > 0) grafts.set(`.git/${dir}`, found);
  }
  return grafts;
}

/**
 * In the copy, objects that repositories of the tree borrow from other repositories are among their own: those of the
 * project, of its submodules and of repositories inside it. By the path of each directory that is combined: `objects`
 * first, then directories in it.
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
    grafts.set(info, [{ source: path.join(objects, 'info'), without: NAMES_OF_STORES }]);
    grafts.set(`${at}/pack`, [{ source: path.join(objects, 'pack'), without: [] }, ...lentPacks]);
  }
  return grafts;
}

function only(source: string, names: RegExp): Graft {
  return { source, without: namesIn(source).filter((name) => !names.test(name)) };
}

/** The directory that a project's `.git` is, names or links to; undefined when there is none. */
export function gitDirOf(project: string): string | undefined {
  const file = path.join(project, '.git');
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return file;
  if (stat?.isSymbolicLink() === true) return isDirectory(file) ? realpathSync(file) : undefined;
  if (stat === undefined || !stat.isFile() || stat.size > 65_536) return undefined;
  const pointer = /^gitdir: ([^\n]+)\n?$/.exec(readFileSync(file, 'utf8'))?.[1];
  const own = pointer === undefined ? undefined : path.resolve(project, pointer);
  return own !== undefined && isDirectory(own) ? own : undefined;
}

/** Of a linked worktree: the directory that it shares with its repository (gitrepository-layout(5)). */
export function commonDirOf(gitDir: string): string {
  const named = readText(path.join(gitDir, 'commondir'))?.trim();
  return named === undefined || named === '' ? gitDir : path.resolve(gitDir, named);
}

function isDirectory(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readText(file: string): string | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size < 65_536 ? readFileSync(file, 'utf8') : undefined;
}

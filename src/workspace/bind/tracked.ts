import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { parseConfig } from '../../core/git/config-parse.ts';
import { type IndexedFile, type IndexTime, unchangedFiles } from '../../core/git/index-entries.ts';
import { nameOfPath, parentPath } from '../../core/text/path.ts';
import { commonDirOf, gitDirOf } from '../scan/git/git-grafts.ts';
import { objectStores } from '../scan/git/object-stores.ts';
import type { HostEntry } from './scan-project.ts';

/** A repository out of the agent's reach, and where in it the content of unchanged files is. */
export interface TrackedContent {
  /** The top of its work tree in the project; '' is the project. */
  readonly top: string;
  readonly gitDir: string;
  /** Ids of trees by directory and of blobs by path, from `top`. */
  readonly trees: ReadonlyMap<string, string>;
  readonly blobs: ReadonlyMap<string, string>;
}

/** The files that git has as they are in the project. */
export interface Tracked {
  readonly repositories: readonly TrackedContent[];
  readonly unchanged: ReadonlySet<string>;
}

const MAX_INDEX_BYTES = 1 << 28;

/**
 * The files whose index entry says that they are as git compared them last. Read from the project's own repository, where
 * a mount covers its `.git`, and from those of its submodules that are stored in it. What the agent can change is not
 * read: a repository inside the project, and one that borrows objects from there.
 */
export function readTracked(root: string, isShielded: boolean, entries: ReadonlyMap<string, HostEntry>): Tracked {
  const own = isShielded ? gitDirOf(root) : undefined;
  if (own === undefined) return { repositories: [], unchanged: new Set() };
  const repositories: TrackedContent[] = [];
  const unchanged = new Set<string>();
  for (const [top, gitDir] of [['', own] as const, ...submodulesIn(commonDirOf(own), root, entries)]) {
    if (isInReach(gitDir, root)) continue;
    const content = readOne(top, gitDir, entries, unchanged);
    if (content !== undefined) repositories.push(content);
  }
  return { repositories, unchanged };
}

/** Whether the agent can write to a repository: to its directory, the shared one, or one that it borrows objects from. */
function isInReach(gitDir: string, root: string): boolean {
  const common = commonDirOf(gitDir);
  const top = realpathSync(root);
  return [gitDir, common, ...objectStores(path.join(common, 'objects'))].some((dir) => {
    const real = realpathSync(dir);
    const isShielded = real === `${top}/.git` || real.startsWith(`${top}/.git/`);
    return !isShielded && (real === top || real.startsWith(`${top}/`));
  });
}

/** The submodules whose repository is stored in the project's own: by the top of the work tree, the directory of git. */
function* submodulesIn(common: string, root: string, entries: ReadonlyMap<string, HostEntry>) {
  for (const [name, { kind }] of entries) {
    if (kind !== 'file' || nameOfPath(name) !== '.git') continue;
    const gitDir = gitDirOf(`${root}/${parentPath(name)}`);
    if (gitDir !== undefined && isBelow(gitDir, common)) yield [parentPath(name), gitDir] as const;
  }
}

function isBelow(dir: string, above: string): boolean {
  return realpathSync(dir).startsWith(`${realpathSync(above)}/`);
}

/** Adds to `unchanged` the paths of one repository. */
function readOne(
  top: string,
  gitDir: string,
  entries: ReadonlyMap<string, HostEntry>,
  unchanged: Set<string>,
): TrackedContent | undefined {
  const file = path.join(gitDir, 'index');
  const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > MAX_INDEX_BYTES) return undefined;
  const written = timeOf(String(stat.mtimeNs));
  const pathOf = (one: string): string => (top === '' ? one : `${top}/${one}`);
  const isSame = (one: IndexedFile): boolean => isUnchanged(one, entries.get(pathOf(one.path)), written);
  const found = unchangedFiles(readFileSync(file), objectNameBytes(commonDirOf(gitDir)), isSame);
  if (found === undefined) return undefined;
  for (const one of found.paths) unchanged.add(pathOf(one));
  return { top, gitDir, trees: found.trees, blobs: found.blobs };
}

/** The length of object names in a repository. */
export function objectNameBytes(common: string): 20 | 32 {
  const { entries } = parseConfig(readText(path.join(common, 'config')) ?? '');
  return entries.findLast(({ key }) => key === 'extensions.objectformat')?.value === 'sha256' ? 32 : 20;
}

function readText(file: string): string | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(file, 'utf8') : undefined;
}

/** As git decides it: nothing differs, and the file is older than the index, so that no later write had the same time. */
function isUnchanged(indexed: IndexedFile, seen: HostEntry | undefined, written: IndexTime): boolean {
  if (seen?.kind !== 'file') return false;
  const mtime = timeOf(seen.mtimeNs);
  return (
    indexed.size === seen.size % 2 ** 32 &&
    indexed.ino === lower32(seen.ino) &&
    isSameTime(indexed.mtime, mtime) &&
    isSameTime(indexed.ctime, timeOf(seen.ctimeNs)) &&
    isBefore(indexed.mtime, written)
  );
}

function lower32(digits: string): number {
  const number = Number(digits);
  return number < 2 ** 32 ? number : Number(BigInt(digits) & 0xffff_ffffn);
}

/** Of a time in nanoseconds as digits. A time before 1970 is none that an index has. */
function timeOf(ns: string): IndexTime {
  return { seconds: Number(ns.slice(0, -9)), nanoseconds: Number(ns.slice(-9)) };
}

function isSameTime(a: IndexTime, b: IndexTime): boolean {
  return a.seconds === b.seconds && a.nanoseconds === b.nanoseconds;
}

function isBefore(a: IndexTime, b: IndexTime): boolean {
  return a.seconds < b.seconds || (a.seconds === b.seconds && a.nanoseconds < b.nanoseconds);
}

import { lstatSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { IgnoredPaths, type IgnoreSources, type RepositoryRules } from '../../core/git/ignored-paths.ts';
import { allIndexPaths } from '../../core/git/index-paths.ts';
import { parentPath } from '../../core/text/path.ts';
import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import type { Selection } from '../../core/text/selection.ts';
import { commonDirOf, gitDirOf } from './git/git-grafts.ts';
import { blobName, hasObject, type ObjectHash } from './git/git-objects.ts';
import { objectStores } from './git/object-stores.ts';

const MAX_IGNORE_FILE_BYTES = 1 << 20;
/** The index of a monorepo with some 500,000 files. */
const MAX_INDEX_BYTES = 1 << 26;

/**
 * A selection that also leaves out what the project's ignore rules match and its index does not track: every `.gitignore`
 * on the way to a path, where the deepest has the last word, and `.git/info/exclude`. A repository inside the project has
 * rules and its own index. Where an index cannot be used, nothing below its repository is left out. `include`:
 * patterns of what is copied in spite of that.
 */
export function withoutIgnored(selection: Selection, root: string, include: readonly string[]): Selection {
  const isIgnored = ignoredOnDisk(root);
  const included = new IgnorePatterns({ lines: include, ignoreCase: false });
  return {
    any: true,
    // What an index tracks is never ignored.
    key: selection.key,
    masked: selection.masked,
    leftOut: (one, directory) =>
      selection.leftOut(one, directory) || (isIgnored(one, directory) && !included.ignores(one, directory)),
  };
}

/**
 * Whether git ignores a path of the project: a rule matches it, and no index has it or, of a directory, anything below it.
 * False where an index cannot be used.
 */
export function ignoredOnDisk(root: string): GitPaths['isLeftOut'] {
  return gitPathsOnDisk(root).isLeftOut;
}

/** How git regards the files of a project. */
export interface GitPaths {
  /** Whether an index has a path. False where an index cannot be used. */
  isTracked(path: string): boolean;
  /** Whether a rule matches a file that no index has. */
  isIgnored(path: string): boolean;
  /** Whether the objects of a repository around a path have a file of this content. */
  hasContent(path: string, bytes: Buffer): boolean;
  /** As {@link ignoredOnDisk}. */
  isLeftOut(path: string, directory: boolean): boolean;
}

/** How git regards the files of the project at `root`, as it is now. Nothing is read before the first question. */
export function gitPathsOnDisk(root: string): GitPaths {
  const sources = new ProjectSources(root);
  const ignored = new IgnoredPaths(sources);
  return {
    isTracked: (path) => ignored.tracks(path),
    hasContent: (one, bytes) => ignored.topsAround(parentPath(one)).some((top) => sources.hasContent(top, bytes)),
    isIgnored: (path) => !ignored.tracks(path) && ignored.matches(path, false),
    // Most files of a project are tracked, and a lookup costs less than patterns.
    isLeftOut: (path, directory) =>
      !ignored.mayTrack(path) && !(directory && ignored.mayTrackBelow(path)) && ignored.matches(path, directory),
  };
}

interface RepositoryObjects {
  readonly dirs: readonly string[];
  readonly hash: ObjectHash;
}

/** The files of git of a project on this machine. */
class ProjectSources implements IgnoreSources {
  readonly #root: string;
  readonly #objects = new Map<string, RepositoryObjects>();

  constructor(root: string) {
    this.#root = root;
  }

  ignoreFile(dir: string): string | undefined {
    return readText(path.join(this.#root, dir, '.gitignore'));
  }

  repository(dir: string): RepositoryRules | undefined {
    const gitDir = this.#gitDir(dir);
    if (gitDir === undefined) return undefined;
    const common = commonDirOf(gitDir);
    return { exclude: readText(path.join(common, 'info/exclude')), config: readText(path.join(common, 'config')) };
  }

  tracked(top: string, objectNameBytes: 20 | 32): ReadonlySet<string> | undefined {
    const gitDir = this.#gitDir(top);
    const file = gitDir === undefined ? undefined : path.join(gitDir, 'index');
    if (file === undefined || lstatSync(file, { throwIfNoEntry: false }) === undefined) return new Set();
    const index = read(file, MAX_INDEX_BYTES);
    return index === undefined ? undefined : allIndexPaths(index, objectNameBytes);
  }

  /** Also where git stored it with other ends of lines. */
  hasContent(top: string, bytes: Buffer): boolean {
    const { dirs, hash } = this.#objectsOf(top);
    const contents = bytes.includes('\r\n')
      ? [bytes, Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')]
      : [bytes];
    return contents.some((one) => {
      const name = blobName(one, hash);
      return dirs.some((dir) => hasObject(dir, name));
    });
  }

  #objectsOf(top: string): RepositoryObjects {
    const known = this.#objects.get(top);
    if (known !== undefined) return known;
    const gitDir = this.#gitDir(top);
    const common = gitDir === undefined ? undefined : commonDirOf(gitDir);
    const isLong = /^\s*objectformat\s*=\s*sha256\s*$/im.test((common && readText(path.join(common, 'config'))) ?? '');
    const dirs = common === undefined ? [] : objectStores(path.join(common, 'objects'));
    const found: RepositoryObjects = { dirs, hash: isLong ? 'sha256' : 'sha1' };
    this.#objects.set(top, found);
    return found;
  }

  #gitDir(dir: string): string | undefined {
    return dir === '' ? gitDirOf(this.#root) : repositoryAt(path.join(this.#root, dir));
  }
}

/** The directory of git's own files, where `dir` is the top of a work tree. The same check as git's. */
function repositoryAt(dir: string): string | undefined {
  try {
    const gitDir = gitDirOf(dir);
    const isRepository =
      gitDir !== undefined &&
      lstatSync(path.join(gitDir, 'HEAD'), { throwIfNoEntry: false }) !== undefined &&
      statSync(path.join(commonDirOf(gitDir), 'objects'), { throwIfNoEntry: false })?.isDirectory() === true;
    return isRepository ? gitDir : undefined;
  } catch {
    // The walk meets it too, and reports it.
    return undefined;
  }
}

/** Undefined for what is not a file of a usable size. */
function read(file: string, maxBytes: number): Buffer | undefined {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readFileSync(file) : undefined;
  } catch {
    // The walk meets it too, and reports it.
    return undefined;
  }
}

function readText(file: string): string | undefined {
  return read(file, MAX_IGNORE_FILE_BYTES)?.toString('utf8');
}

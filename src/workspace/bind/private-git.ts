import {
  appendFileSync,
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { COPY_MODE, RunClaudeError } from '../../core/errors.ts';
import { asBoolean, parseConfig } from '../../core/git/config-parse.ts';
import { type ConfigPlace, rewriteConfig } from '../../core/git/config-write.ts';
import {
  isRunningState,
  isSharedEntry,
  isStash,
  PRIVATE_IN_SHARED,
  withoutPackedStash,
} from '../../core/git/layout.ts';
import { parseUser } from '../../core/host/user.ts';
import { nameOfPath, parentPath } from '../../core/text/path.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { BoundGit } from '../../core/types/session.ts';
import { gitDirOf } from '../scan/git/git-grafts.ts';
import { objectStores } from '../scan/git/object-stores.ts';
import { fingerprintRefs } from './commits.ts';

/**
 * Entries of a git directory that are not copied: objects, which are read where they are; what git executes; what belongs
 * to other work trees; what describes this machine; git-lfs' own store; keys and logins.
 */
const NOT_COPIED = new Set(
  `objects hooks config config.worktree commondir gitdir worktrees modules lfs annex fsmonitor--daemon git-crypt
   credentials credential`.split(/\s+/),
);

interface PrivateGit {
  /** The project. */
  readonly root: string;
  readonly insideObjects: string;
  /** Directories of objects on the host, in the order in which they are mounted. */
  readonly objects: string[];
  readonly dropped: string[];
  /** Folders of the project that a copied configuration names as its work tree. */
  readonly workTrees: WorkTree[];
}

interface WorkTree {
  /** From the project's root. */
  readonly at: string;
  readonly gitDir: string;
  /** The session's copy of that directory. */
  readonly copy: string;
}

/** A session's own repository, as it was made. */
export interface MadeGit {
  readonly bound: BoundGit;
  /** Names of the configuration keys that were left out. */
  readonly dropped: readonly string[];
  /** Submodules whose `.git` file names a repository that was copied: their folders, and from `target` that copy. */
  readonly submodules: readonly { readonly at: string; readonly repository: string }[];
}

/**
 * Makes the session's own repository at `target`: the user's without its objects and without the secrets and commands of
 * its configuration. Repositories of submodules in it are made the same way. The user's git does not run.
 *
 * @throws {RunClaudeError} BIND_GIT_LOST where `dotGit` names a repository that does not exist; errors of the disk.
 */
export function makePrivateGit(plan: Plan, dotGit: string, target: string, insideObjects: string): MadeGit {
  const { root } = plan.project;
  const made: PrivateGit = { root, insideObjects, objects: [], dropped: [], workTrees: [] };
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (lstatSync(dotGit).isDirectory()) copyRepository(dotGit, target, made);
  else copyWorkTree(plan, dotGit, target, made);
  chownTree(target, plan.user);
  return {
    bound: { objects: made.objects, refs: fingerprintRefs(target) },
    dropped: [...new Set(made.dropped)],
    submodules: made.workTrees
      .filter(({ at, gitDir }) => isGitFileOf(path.join(root, at), gitDir))
      .map(({ at, copy }) => ({ at, repository: path.relative(target, copy) })),
  };
}

/** Whether a folder has a `.git` file, and not a link or a directory, that names this directory. */
function isGitFileOf(folder: string, gitDir: string): boolean {
  if (lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false })?.isFile() !== true) return false;
  const named = gitDirOf(folder);
  return named !== undefined && realpathSync(named) === realpathSync(gitDir);
}

/** The repository of a linked work tree or a submodule: what is shared, and over that its own entries. */
function copyWorkTree(plan: Plan, dotGit: string, target: string, made: PrivateGit): void {
  const common = plan.project.gitCommonDir;
  const [, named] = /^gitdir: (.+?)\s*$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
  if (common === undefined || named === undefined) {
    throw new RunClaudeError('BIND_GIT_LOST', `${dotGit} names a repository that does not exist`, {
      hint: `Repair it (git worktree repair), or use ${COPY_MODE}.`,
    });
  }
  const gitDir = path.resolve(plan.project.root, named);
  const isLinked = realpathSync(common) !== realpathSync(gitDir);
  for (const name of isLinked ? readdirSync(common) : [])
    if (isSharedEntry(name) && !NOT_COPIED.has(name)) copyPlain(common, target, name, PRIVATE_IN_SHARED);
  for (const name of readdirSync(gitDir)) if (!NOT_COPIED.has(name)) copyPlain(gitDir, target, name);
  readObjectsOf(common, target, made);
  copyModules(path.join(gitDir, 'modules'), path.join(target, 'modules'), made);
  const isNamed = [
    writeConfig(common, 'config', target, made, { isOfMainTree: isLinked }),
    writeConfig(gitDir, 'config.worktree', target, made),
  ];
  // A bare repository without a work tree stays one.
  if (isNamed.includes(true) || (!isLinked && isBare(path.join(target, 'config')))) return;
  appendFileSync(path.join(target, 'config'), AT_WORKSPACE);
}

function isBare(config: string): boolean {
  if (lstatSync(config, { throwIfNoEntry: false }) === undefined) return false;
  const { entries } = parseConfig(readFileSync(config, 'utf8'));
  const found = entries.findLast(({ key }) => key === 'core.bare');
  return found !== undefined && asBoolean(found.value) === true;
}

const AT_WORKSPACE = '\n[core]\n\tbare = false\n\tworktree = /workspace\n';

/** A whole git directory, with those of its submodules. */
function copyRepository(from: string, to: string, made: PrivateGit): void {
  for (const name of readdirSync(from)) if (!NOT_COPIED.has(name)) copyPlain(from, to, name);
  for (const name of ['config', 'config.worktree']) writeConfig(from, name, to, made);
  readObjectsOf(from, to, made);
  copyModules(path.join(from, 'modules'), path.join(to, 'modules'), made);
}

/** A path from the project's root; undefined outside of it, and inside git's own directory. */
function innerPath(root: string, target: string): string | undefined {
  const inner = path.relative(root, target);
  const parts = inner.split(path.sep);
  return parts[0] === '..' || parts.includes('.git') || path.isAbsolute(inner) ? undefined : inner;
}

/** The name of a submodule may have slashes: its repository is at any depth. */
function copyModules(from: string, to: string, made: PrivateGit): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const isRepository = lstatSync(path.join(from, 'HEAD'), { throwIfNoEntry: false })?.isFile() === true;
  mkdirSync(to, { recursive: true, mode: 0o755 });
  if (isRepository) copyRepository(from, to, made);
  else for (const name of readdirSync(from)) copyModules(path.join(from, name), path.join(to, name), made);
}

/** Writes one configuration as the agent may have it, where there is one. Returns whether it names a work tree. */
function writeConfig(
  from: string,
  name: string,
  to: string,
  made: PrivateGit,
  { isOfMainTree }: Pick<ConfigPlace, 'isOfMainTree'> = { isOfMainTree: false },
): boolean {
  const file = path.join(from, name);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  let isNamed = false;
  const workTree = (value: string): string | undefined => {
    const inner = innerPath(made.root, path.resolve(from, value));
    if (inner === undefined) return undefined;
    isNamed = true;
    if (inner !== '') made.workTrees.push({ at: inner, gitDir: from, copy: to });
    // The session's repository is not everywhere where the user's is.
    return path.posix.join('/workspace', inner);
  };
  const { text, dropped } = rewriteConfig(readFileSync(file, 'utf8'), { isOfMainTree, workTree });
  for (const what of dropped) made.dropped.push(what);
  writeFileSync(path.join(to, name), text, { mode: 0o644 });
  return isNamed;
}

/** The session's objects are its own. The user's, and those that the user's repository borrows, are named as alternates. */
function readObjectsOf(from: string, to: string, made: PrivateGit): void {
  mkdirSync(path.join(to, 'objects', 'info'), { recursive: true, mode: 0o755 });
  mkdirSync(path.join(to, 'objects', 'pack'), { mode: 0o755 });
  const lines = objectStores(path.join(from, 'objects')).map((dir) => {
    if (!made.objects.includes(dir)) made.objects.push(dir);
    return `${made.insideObjects}/${made.objects.indexOf(dir)}\n`;
  });
  writeFileSync(path.join(to, 'objects', 'info', 'alternates'), lines.join(''), { mode: 0o644 });
}

/** Writes a file for the agent's container into the session's directory. Returns its path. */
export function writeMounted(sessionDir: string, name: string, text: string | Uint8Array): string {
  const dir = path.join(sessionDir, 'bind');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, name);
  writeFileSync(file, text);
  // Another uid reads it, whatever the umask is.
  chmodSync(file, 0o644);
  return file;
}

/**
 * Copies files and directories of git's directory; links, special files and the state of a git that runs are left out.
 * `without`: names that are left out too, by directory.
 */
function copyPlain(
  from: string,
  to: string,
  name: string,
  without: ReadonlyMap<string, readonly string[]> = new Map(),
): void {
  const source = path.join(from, name);
  const stat = lstatSync(source, { throwIfNoEntry: false });
  if (stat === undefined || isRunningState(parentPath(name), nameOfPath(name), stat.isDirectory())) return;
  if (isStash(parentPath(name), nameOfPath(name))) return;
  if (stat.isDirectory()) {
    mkdirSync(path.join(to, name), { recursive: true, mode: 0o755 });
    const left = without.get(name) ?? [];
    for (const child of readdirSync(source)) {
      if (!left.includes(child)) copyPlain(from, to, path.join(name, child), without);
    }
  } else if (name === 'packed-refs' && stat.isFile()) {
    const text = withoutPackedStash(readFileSync(source, 'latin1'));
    writeFileSync(path.join(to, name), text, { encoding: 'latin1', mode: 0o644 });
  } else if (stat.isFile()) {
    copyFileSync(source, path.join(to, name), constants.COPYFILE_FICLONE);
  }
}

function chownTree(dir: string, user: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = parseUser(user);
  chownSync(dir, uid, gid);
  for (const child of readdirSync(dir, { withFileTypes: true })) {
    const at = path.join(dir, child.name);
    if (child.isDirectory()) chownTree(at, user);
    else chownSync(at, uid, gid);
  }
}

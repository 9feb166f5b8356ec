import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { rewriteConfig } from '../git/config-write.ts';
import { parseUser } from '../host/user.ts';
import { objectStores } from '../scan/object-stores.ts';
import type { Plan } from '../types/plan.ts';
import type { BoundGit } from '../types/session.ts';
import { fingerprintRefs } from './commits.ts';

/**
 * Entries of a git directory that are not copied: objects, which are read where they are; what git executes; what belongs
 * to other work trees; what describes this machine; git-lfs' own store.
 */
const NOT_COPIED = new Set(
  'objects hooks config config.worktree commondir gitdir worktrees modules lfs annex fsmonitor--daemon'.split(' '),
);
/** Entries that all work trees of a repository share; the rest of the common directory belongs to the main work tree. */
const SHARED = ['refs', 'packed-refs', 'reftable', 'shallow', 'info', 'logs'];

interface PrivateGit {
  readonly insideObjects: string;
  /** Directories of objects on the host, in the order in which they are mounted. */
  readonly objects: string[];
  readonly dropped: string[];
}

/**
 * Makes the session's own repository at `target`: the user's without its objects and without the secrets and commands of
 * its configuration. Repositories of submodules in it are made the same way. The user's git does not run. Returns what
 * later stages need, and the names of the configuration keys that were left out.
 *
 * @throws {RunClaudeError} BIND_GIT_LOST where `dotGit` names a repository that does not exist; errors of the disk.
 */
export function makePrivateGit(
  plan: Plan,
  dotGit: string,
  target: string,
  insideObjects: string,
): BoundGit & { readonly dropped: readonly string[] } {
  const made: PrivateGit = { insideObjects, objects: [], dropped: [] };
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (lstatSync(dotGit).isDirectory()) copyRepository(dotGit, target, made);
  else copyWorkTree(plan, dotGit, target, made);
  chownTree(target, plan.user);
  return { objects: made.objects, refs: fingerprintRefs(target), dropped: [...new Set(made.dropped)] };
}

/** The repository of a linked work tree or a submodule: what is shared, and over that its own entries. */
function copyWorkTree(plan: Plan, dotGit: string, target: string, made: PrivateGit): void {
  const common = plan.project.gitCommonDir;
  const [, named] = /^gitdir: (.+?)\s*$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
  if (common === undefined || named === undefined) {
    throw new RunClaudeError('BIND_GIT_LOST', `${dotGit} names a repository that does not exist`, {
      hint: 'Repair it (git worktree repair), or use --copy-workspace.',
    });
  }
  const gitDir = path.resolve(plan.project.root, named);
  for (const name of SHARED) copyPlain(common, target, name);
  for (const name of readdirSync(gitDir)) if (!NOT_COPIED.has(name)) copyPlain(gitDir, target, name);
  writeConfig(common, target, made, '[core]\n\tbare = false\n\tworktree = /workspace\n');
  readObjectsOf(common, target, made);
}

/** A whole git directory, with those of its submodules. */
function copyRepository(from: string, to: string, made: PrivateGit): void {
  for (const name of readdirSync(from)) if (!NOT_COPIED.has(name)) copyPlain(from, to, name);
  writeConfig(from, to, made, '');
  readObjectsOf(from, to, made);
  copyModules(path.join(from, 'modules'), path.join(to, 'modules'), made);
}

/** The name of a submodule may have slashes: its repository is at any depth. */
function copyModules(from: string, to: string, made: PrivateGit): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const isRepository = lstatSync(path.join(from, 'HEAD'), { throwIfNoEntry: false })?.isFile() === true;
  mkdirSync(to, { recursive: true, mode: 0o755 });
  if (isRepository) copyRepository(from, to, made);
  else for (const name of readdirSync(from)) copyModules(path.join(from, name), path.join(to, name), made);
}

function writeConfig(from: string, to: string, made: PrivateGit, more: string): void {
  for (const name of ['config', 'config.worktree']) {
    const file = path.join(from, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const rewritten = rewriteConfig(readFileSync(file, 'utf8'));
    for (const what of rewritten.dropped) made.dropped.push(what);
    const text = name === 'config' && more !== '' ? `${rewritten.text}\n${more}` : rewritten.text;
    writeFileSync(path.join(to, name), text, { mode: 0o644 });
  }
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
export function writeMounted(sessionDir: string, name: string, text: string): string {
  const dir = path.join(sessionDir, 'bind');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, name);
  writeFileSync(file, text);
  // Another uid reads it, whatever the umask is.
  chmodSync(file, 0o644);
  return file;
}

/** Copies files and directories; links, special files and git's lock files are left out. */
function copyPlain(from: string, to: string, name: string): void {
  const source = path.join(from, name);
  const stat = lstatSync(source, { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    mkdirSync(path.join(to, name), { recursive: true, mode: 0o755 });
    for (const child of readdirSync(source)) copyPlain(from, to, path.join(name, child));
  } else if (stat?.isFile() && !name.endsWith('.lock')) {
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

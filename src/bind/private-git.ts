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
import { refsPrint } from './commits.ts';

/**
 * Of a git directory, not copied: objects are read where they are; what runs, what belongs to other work trees, what
 * tells of this machine, and git-lfs' own store.
 */
const LEFT_OUT = new Set(
  'objects hooks config config.worktree commondir gitdir worktrees modules lfs annex fsmonitor--daemon'.split(' '),
);
/** Shared by all work trees of a repository; the rest of the common directory is the main work tree's own. */
const SHARED = ['refs', 'packed-refs', 'reftable', 'shallow', 'info', 'logs'];

interface Making {
  readonly insideObjects: string;
  /** Directories of objects on the host, in the order in which they are mounted. */
  readonly objects: string[];
  readonly dropped: string[];
}

/**
 * A repository of the session's own at `target`, with what the person's has but its objects and its configuration's
 * secrets and commands. Submodules' repositories in it are made likewise. The person's git does not run.
 * Throws RunClaudeError BIND_GIT_LOST where `dotGit` leads nowhere, and what the disk says.
 */
export function makePrivateGit(
  plan: Plan,
  dotGit: string,
  target: string,
  insideObjects: string,
): BoundGit & { readonly dropped: readonly string[] } {
  const making: Making = { insideObjects, objects: [], dropped: [] };
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (lstatSync(dotGit).isDirectory()) copyRepository(dotGit, target, making);
  else copyWorkTree(plan, dotGit, target, making);
  own(target, plan.user);
  return { objects: making.objects, refs: refsPrint(target), dropped: [...new Set(making.dropped)] };
}

/** A linked work tree's, or a submodule's: what is shared, and over it what is its own. */
function copyWorkTree(plan: Plan, dotGit: string, target: string, making: Making): void {
  const common = plan.project.gitCommonDir;
  const [, named] = /^gitdir: (.+?)\s*$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
  if (common === undefined || named === undefined) {
    throw new RunClaudeError('BIND_GIT_LOST', `${dotGit} names a repository that is not there`, {
      hint: 'Repair it (git worktree repair), or use --copy-workspace.',
    });
  }
  const gitDir = path.resolve(plan.project.root, named);
  for (const name of SHARED) copyPlain(common, target, name);
  for (const name of readdirSync(gitDir)) if (!LEFT_OUT.has(name)) copyPlain(gitDir, target, name);
  writeConfig(common, target, making, '[core]\n\tbare = false\n\tworktree = /workspace\n');
  readObjectsOf(common, target, making);
}

/** A whole git directory, those of submodules with it. */
function copyRepository(from: string, to: string, making: Making): void {
  for (const name of readdirSync(from)) if (!LEFT_OUT.has(name)) copyPlain(from, to, name);
  writeConfig(from, to, making, '');
  readObjectsOf(from, to, making);
  copyModules(path.join(from, 'modules'), path.join(to, 'modules'), making);
}

/** A submodule's name may have slashes: its repository is wherever one is. */
function copyModules(from: string, to: string, making: Making): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const isRepository = lstatSync(path.join(from, 'HEAD'), { throwIfNoEntry: false })?.isFile() === true;
  mkdirSync(to, { recursive: true, mode: 0o755 });
  if (isRepository) copyRepository(from, to, making);
  else for (const name of readdirSync(from)) copyModules(path.join(from, name), path.join(to, name), making);
}

function writeConfig(from: string, to: string, making: Making, more: string): void {
  for (const name of ['config', 'config.worktree']) {
    const file = path.join(from, name);
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) continue;
    const rewritten = rewriteConfig(readFileSync(file, 'utf8'));
    making.dropped.push(...rewritten.dropped);
    const text = name === 'config' && more !== '' ? `${rewritten.text}\n${more}` : rewritten.text;
    writeFileSync(path.join(to, name), text, { mode: 0o644 });
  }
}

/** The session's objects are its own; the person's, and those that these borrow, are named as alternates. */
function readObjectsOf(from: string, to: string, making: Making): void {
  mkdirSync(path.join(to, 'objects', 'info'), { recursive: true, mode: 0o755 });
  mkdirSync(path.join(to, 'objects', 'pack'), { mode: 0o755 });
  const lines = objectStores(path.join(from, 'objects')).map((dir) => {
    if (!making.objects.includes(dir)) making.objects.push(dir);
    return `${making.insideObjects}/${making.objects.indexOf(dir)}\n`;
  });
  writeFileSync(path.join(to, 'objects', 'info', 'alternates'), lines.join(''), { mode: 0o644 });
}

/** A file of ours that the container may read. */
export function writeOwn(sessionDir: string, name: string, text: string): string {
  const dir = path.join(sessionDir, 'bind');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, name);
  writeFileSync(file, text);
  // Whatever the umask: another uid reads it.
  chmodSync(file, 0o644);
  return file;
}

/** Copies files and directories; links, special files and what is locked this moment are left out. */
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

function own(dir: string, user: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = parseUser(user);
  chownSync(dir, uid, gid);
  for (const child of readdirSync(dir, { withFileTypes: true })) {
    const at = path.join(dir, child.name);
    if (child.isDirectory()) own(at, user);
    else chownSync(at, uid, gid);
  }
}

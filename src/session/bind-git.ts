import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { rewriteConfig } from '../git/config-write.ts';
import type { Mount } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';

/** Where a repository lies inside when the project's `.git` is a file. */
const INSIDE_REPOSITORY = '/run/run-claude/git';

export interface BindGit {
  readonly mounts: readonly Mount[];
  /** What the agent's copy of the configuration does not have, for people. */
  readonly dropped: readonly string[];
}

/**
 * The mounts that keep a project's `.git` out of the agent's reach. A directory: read-only, a mount point of its own
 * (which cannot be renamed or removed), its configuration replaced by one without secrets. A file: a read-only one of
 * ours that names a self-contained copy. Nothing: nothing, since a mount point would be created on the host.
 *
 * @throws RunClaudeError BIND_GIT_LINK where it is a link or something else, BIND_GIT_LOST where a file leads nowhere.
 */
export function shieldGit(plan: Plan): BindGit {
  const dotGit = path.join(plan.project.root, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return { mounts: [], dropped: [] };
  if (stat.isDirectory()) return shieldDirectory(plan, dotGit);
  if (stat.isFile()) return shieldFile(plan, dotGit);
  throw new RunClaudeError('BIND_GIT_LINK', `${dotGit} is a link or a special file, which bind mode cannot shield`, {
    hint: 'Use --copy-workspace.',
  });
}

function shieldDirectory(plan: Plan, dotGit: string): BindGit {
  const config = path.join(dotGit, 'config');
  const shield: Mount = { kind: 'bind', source: dotGit, target: '/workspace/.git', readonly: true };
  if (lstatSync(config, { throwIfNoEntry: false })?.isFile() !== true) return { mounts: [shield], dropped: [] };
  const rewritten = rewriteConfig(readFileSync(config, 'utf8'));
  const own = writeOwn(plan, 'config', rewritten.text);
  return {
    mounts: [shield, { kind: 'bind', source: own, target: '/workspace/.git/config', readonly: true }],
    dropped: rewritten.dropped,
  };
}

function shieldFile(plan: Plan, dotGit: string): BindGit {
  const common = plan.project.gitCommonDir;
  const [, named] = /^gitdir: (.+?)\s*$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
  if (common === undefined || named === undefined) {
    throw new RunClaudeError('BIND_GIT_LOST', `${dotGit} names a repository that is not there`, {
      hint: 'Repair it (git worktree repair), or use --copy-workspace.',
    });
  }
  const gitDir = path.resolve(plan.project.root, named);
  const repository = path.join(plan.sessionDir, 'bind', 'git');
  mkdirSync(repository, { recursive: true, mode: 0o700 });
  for (const part of ['objects', 'refs', 'packed-refs', 'shallow']) copyPlain(common, repository, part);
  for (const part of ['HEAD', 'index', 'ORIG_HEAD']) copyPlain(gitDir, repository, part);
  const rewritten = rewriteConfig(readFileSync(path.join(common, 'config'), 'utf8'));
  const text = `${rewritten.text}\n[core]\n\tbare = false\n\tworktree = /workspace\n`;
  writeFileSync(path.join(repository, 'config'), text, { mode: 0o600 });
  own(repository, plan.user);
  const gitFile = writeOwn(plan, 'gitfile', `gitdir: ${INSIDE_REPOSITORY}\n`);
  return {
    mounts: [
      { kind: 'bind', source: repository, target: INSIDE_REPOSITORY, readonly: false },
      { kind: 'bind', source: gitFile, target: '/workspace/.git', readonly: true },
    ],
    dropped: rewritten.dropped,
  };
}

/** A file of ours that the container may read. */
function writeOwn(plan: Plan, name: string, text: string): string {
  const dir = path.join(plan.sessionDir, 'bind');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, name);
  writeFileSync(file, text);
  // Whatever the umask: another uid reads it.
  chmodSync(file, 0o644);
  return file;
}

/** Copies files and directories; alternates, links and special files are left out: the copy stands on its own. */
function copyPlain(from: string, to: string, name: string): void {
  const source = path.join(from, name);
  const stat = existsSync(source) ? lstatSync(source) : undefined;
  if (stat?.isDirectory()) {
    mkdirSync(path.join(to, name), { recursive: true, mode: 0o755 });
    for (const child of readdirSync(source)) copyPlain(from, to, path.join(name, child));
  } else if (stat?.isFile() && !/^objects\/info\/(http-)?alternates$/.test(name)) {
    copyFileSync(source, path.join(to, name), constants.COPYFILE_FICLONE);
  }
}

function own(dir: string, user: string): void {
  if (process.getuid?.() !== 0) return;
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  chownSync(dir, uid, gid);
  for (const child of readdirSync(dir, { withFileTypes: true })) {
    const at = path.join(dir, child.name);
    if (child.isDirectory()) own(at, user);
    else chownSync(at, uid, gid);
  }
}

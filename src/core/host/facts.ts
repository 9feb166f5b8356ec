import { fstatSync, lstatSync, readFileSync, readlinkSync, type StatsFs, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../errors.ts';
import type { HostFacts, ProjectFacts } from '../types/plan.ts';
import { truePath } from './files/true-path.ts';

/** run-claude's directories of this user, and the home directory. */
export type Places = Pick<HostFacts, 'home' | 'stateDir' | 'cacheDir' | 'dataDir' | 'configDir'>;

/** Real paths of run-claude's directories (which need not exist). Relative XDG values are ignored, as the specification says. */
export function findPlaces(env: NodeJS.ProcessEnv, homedir: string): Places {
  const home = nearestReal(homedir);
  const place = (variable: string, fallback: string): string => {
    const value = env[variable];
    return nearestReal(path.join(value?.startsWith('/') ? value : path.join(home, fallback), 'run-claude'));
  };
  return {
    home,
    stateDir: place('XDG_STATE_HOME', '.local/state'),
    cacheDir: place('XDG_CACHE_HOME', '.cache'),
    dataDir: place('XDG_DATA_HOME', '.local/share'),
    configDir: place('XDG_CONFIG_HOME', '.config'),
  };
}

/** The real path of the part that exists, and the rest as it is. Throws RunClaudeError PLACE_UNREADABLE. */
export function nearestReal(wanted: string): string {
  try {
    return truePath(wanted);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const parent = path.dirname(wanted);
    if (code === 'ENOENT' && parent !== wanted) return path.join(nearestReal(parent), path.basename(wanted));
    throw new RunClaudeError('PLACE_UNREADABLE', `cannot look at ${wanted}: ${message}`, {
      cause,
      hint: 'HOME and the XDG variables must name directories that are yours.',
    });
  }
}

/** The part of `process` in use, which tests replace. */
export interface ProcessView {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: { readonly isTTY?: boolean; readonly fd?: number };
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: { readonly isTTY?: boolean };
  getuid?: () => number;
  getgid?: () => number;
  umask?: () => number;
}

/** Whether a program can read more than nothing from standard input: a pipe or a file, and not a terminal or /dev/null. */
export function hasInput({ stdin }: Pick<ProcessView, 'stdin'>): boolean {
  if (stdin.isTTY === true) return false;
  if (stdin.fd === undefined) return true;
  try {
    const stats = fstatSync(stdin.fd);
    return stats.isFile() ? stats.size > 0 : !stats.isCharacterDevice();
  } catch {
    // It is closed.
    return false;
  }
}

/** Facts about this machine and user. Throws RunClaudeError PLATFORM_UNSUPPORTED except on Linux and macOS. */
export function probeHost(process: ProcessView, places: Places): HostFacts {
  const { platform } = process;
  if (platform !== 'linux' && platform !== 'darwin') {
    throw new RunClaudeError('PLATFORM_UNSUPPORTED', `run-claude does not run on ${platform} itself`, {
      hint: 'On Windows, run it inside WSL 2.',
    });
  }
  return {
    ...places,
    platform,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    umask: process.umask?.() ?? 0o022,
    freeDiskMb: freeDiskMb(places.stateDir),
    stdinTty: process.stdin.isTTY === true,
    stdoutTty: process.stdout.isTTY === true,
    stderrTty: process.stderr.isTTY === true,
    columns: process.stdout.columns ?? 80,
    rows: process.stdout.rows ?? 24,
  };
}

/** Free space, in MiB, on the disk of a directory that may not exist yet. */
export function freeDiskMb(dir: string): number {
  const { bavail, bsize } = fileSystemOf(dir);
  return Math.floor((bavail * bsize) / 1_048_576);
}

/** As statfs(2) tells it of a directory that may not exist yet. */
export function fileSystemOf(dir: string): StatsFs {
  for (let at = dir; ; at = path.dirname(at)) {
    try {
      return statfsSync(at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || at === path.dirname(at)) throw error;
    }
  }
}

/**
 * Facts about the project. `--repo` takes the whole repository and starts in the folder that was named.
 * Throws usageError when the folder is missing, is not a folder, or, with `--repo`, is not in a repository.
 */
export function probeProject(named: string, options: { readonly repo: boolean }): ProjectFacts {
  const folder = realFolder(named);
  const top = findRepository(folder);
  if (options.repo && top === undefined) throw usageError(`--repo: ${folder} is not in a git repository`);
  const root = options.repo && top !== undefined ? top : folder;
  const { uid, gid, ino } = statSync(root, { bigint: true });
  const git =
    top === undefined
      ? 'none'
      : top !== root
        ? 'subfolder'
        : statSync(path.join(top, '.git')).isFile()
          ? 'file'
          : 'directory';
  return {
    root,
    startIn: path.relative(root, folder),
    git,
    gitCommonDir: git === 'file' || git === 'directory' ? commonDir(path.join(root, '.git')) : undefined,
    inode: String(ino),
    ownerUid: Number(uid),
    ownerGid: Number(gid),
  };
}

function realFolder(named: string): string {
  try {
    const folder = truePath(named);
    if (statSync(folder).isDirectory()) return folder;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw usageError(`cannot read ${named}: ${code ?? ''}`);
  }
  throw usageError(`no such folder: '${named}'`);
}

/** The nearest directory, this one or above, that has a `.git`. */
export function findRepository(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    if (lstatSync(path.join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

/** The directory that all worktrees of a `.git` (directory or file) share. Undefined when it does not exist. */
function commonDir(dotGit: string): string | undefined {
  try {
    let dir = dotGit;
    if (statSync(dotGit).isFile()) {
      const [, target] = /^gitdir: (.+?)\s*$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
      if (target === undefined) return undefined;
      dir = path.resolve(path.dirname(dotGit), target);
    }
    const shared = path.join(dir, 'commondir');
    const named = statSync(shared, { throwIfNoEntry: false }) === undefined ? '.' : readFileSync(shared, 'utf8').trim();
    return truePath(path.resolve(dir, named));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}

/** The name of the machine's time zone, from the file that JavaScript's Intl reads too: loading Intl takes 15 ms. */
export function localTimeZone(localtime = '/etc/localtime'): string {
  try {
    const named = /\/zoneinfo\/(?:posix\/|right\/)?([A-Za-z][\w+-]*(?:\/[\w+-]+)*)$/.exec(readlinkSync(localtime));
    if (named?.[1] !== undefined) return named[1];
  } catch {
    // Not a link (a copy, a machine without zones): ask Intl.
  }
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

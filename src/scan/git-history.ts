import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TIMEOUT_MS = 3000;
const MAX_NAMED = 20;

/** Options before the command, so that nothing is executed or fetched. */
export const QUIET_GIT: readonly string[] = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'protocol.allow=never',
];

/** Environment for git: no configuration but the repository's own, no locks, no questions. */
export function gitEnv(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}

/**
 * Runs a plumbing command of git on the user's own repository: nothing that its configuration names is executed, and
 * nothing is fetched.
 */
export async function runGit(
  gitDir: string,
  args: readonly string[],
  options: {
    readonly workTree?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly timeoutMs?: number;
  } = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('git', [`--git-dir=${gitDir}`, ...QUIET_GIT, ...args], {
    env: {
      ...gitEnv(),
      ...(options.workTree === undefined ? {} : { GIT_WORK_TREE: options.workTree }),
      ...options.env,
    },
    ...(options.workTree === undefined ? {} : { cwd: options.workTree }),
    timeout: options.timeoutMs ?? 0,
    maxBuffer: 1 << 28,
    encoding: 'utf8',
  });
  return stdout;
}

export interface InHistory {
  /** Those of the paths that some commit of some ref has. */
  readonly found: readonly string[];
  /** The search took too long, or git failed: whether the other paths are in the history is not known. */
  readonly unsure: boolean;
}

/** Which of the paths that are kept out of a copy its git history would show all the same. */
export async function pathsInHistory(gitDir: string, project: string, paths: readonly string[]): Promise<InHistory> {
  const end = Date.now() + TIMEOUT_MS;
  const has = async (some: readonly string[]): Promise<boolean> => {
    const specs = some.map((one) => `:(top,literal)${one}`);
    const args = ['rev-list', '--all', '--max-count=1', '--', ...specs];
    return (await runGit(gitDir, args, { workTree: project, timeoutMs: Math.max(1, end - Date.now()) })) !== '';
  };
  const asked = paths.slice(0, MAX_NAMED);
  const found: string[] = [];
  try {
    if (asked.length === 0 || !(await has(paths.slice(0, 1000)))) return { found, unsure: paths.length > 1000 };
    for (const one of asked) if (await has([one])) found.push(one);
    return { found, unsure: paths.length > asked.length };
  } catch {
    // No git, a damaged repository, or too long a history: what was found counts, the rest is reported as unknown.
    return { found, unsure: true };
  }
}

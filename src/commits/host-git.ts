import { spawnSync } from 'node:child_process';
import { RunClaudeError } from '../errors.ts';

/** No hook, no helper, no other transport, no lazy fetch: nothing but the objects and refs that are named. */
const OFF = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.commitGraph=false',
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  'protocol.allow=never',
  'protocol.file.allow=always',
  'gc.auto=0',
  'maintenance.auto=false',
];

/** Memory (KiB) and processor seconds of one call: packs can be made to blow up. macOS does not know the first. */
const BOUNDED = 'ulimit -v 4194304 2>/dev/null; ulimit -t 300; exec git "$@"';

/**
 * The host's git, plumbing only, where the design allows it: in the person's own repository and in one of ours, never
 * on what a session wrote. Gives stdout. Throws RunClaudeError COMMITS_REFUSED with git's last words.
 */
export function hostGit(cwd: string, args: readonly string[], input: Buffer = Buffer.alloc(0)): Buffer {
  const words = [...OFF.flatMap((setting) => ['-c', setting]), ...args];
  const result = spawnSync('/bin/sh', ['-c', BOUNDED, 'git', ...words], {
    cwd,
    input,
    timeout: 300_000,
    maxBuffer: 1 << 30,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: '/nonexistent',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_LAZY_FETCH: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_TERMINAL_PROMPT: '0',
      // The person's repository may belong to somebody else (root runs us): its objects and refs only are read.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
  });
  if (result.status === 0) return result.stdout;
  const said = result.stderr?.toString().trim().split('\n').at(-1);
  throw refusedCommits(result.error?.message ?? (said || `git ended with ${result.signal ?? result.status}`));
}

/** Whether a plumbing command that answers by its status says yes. */
export function hostGitSays(cwd: string, args: readonly string[]): boolean {
  try {
    hostGit(cwd, args);
    return true;
  } catch (error) {
    if (error instanceof RunClaudeError) return false;
    throw error;
  }
}

/** The error of every step of an import; the person's repository is as before. */
export function refusedCommits(why: string): RunClaudeError {
  return new RunClaudeError('COMMITS_REFUSED', `the session's commits cannot be taken: ${why}`, {
    hint: 'Nothing was imported; the session keeps its commits. `run-claude explore` shows its repository.',
  });
}

const MOST_TIPS = 500;

/** Commits that the person's branches and tags name, newest first; none where there is no repository yet. */
export function hostTips(project: string): string[] {
  const words = ['for-each-ref', `--count=${MOST_TIPS}`, '--sort=-creatordate', '--format=%(objectname)^{}'];
  // Not refs of ours: what was imported once can be looked at, and its branch moved, again.
  const names = hostGit(project, [...words, 'refs/heads', 'refs/tags', 'refs/remotes'])
    .toString()
    .trim()
    .split('\n');
  const lines = ['HEAD', ...names].map((name) => `${name}\n`).join('');
  const checked = hostGit(project, ['cat-file', '--batch-check'], Buffer.from(lines)).toString().split('\n');
  const ids = checked.flatMap((line) => /^([0-9a-f]{40,64}) commit /.exec(line)?.[1] ?? []);
  return [...new Set(ids)];
}

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { parseBundleHead } from './bundle.ts';

export interface ImportRequest {
  /** The person's own repository (its work tree). */
  readonly project: string;
  readonly sessionId: string;
  readonly sessionDir: string;
  /** A bundle that was made in a container, as bytes. */
  readonly bundle: Buffer;
  readonly maxBytes: number;
}

export interface ImportedBranch {
  readonly branch: string;
  readonly commit: string;
  /** refs/run-claude/ID/BRANCH. */
  readonly ref: string;
}

/**
 * Brings a session's commits into the person's repository as refs under refs/run-claude/ID/, and touches neither
 * branches nor work tree. Every object is checked (`index-pack --strict`) in a repository of our own first; the hooks
 * of the person's repository do not run. Throws RunClaudeError COMMITS_REFUSED; the repository is then as before.
 */
export function importCommits(request: ImportRequest): ImportedBranch[] {
  if (!/^[0-9a-z][0-9a-z-]*$/.test(request.sessionId)) throw refused('the session has no plain name');
  if (request.bundle.length > request.maxBytes) throw refused(`it is larger than ${request.maxBytes} bytes`);
  const head = parseBundleHead(request.bundle);
  if (head.branches.size === 0) return [];
  const quarantine = mkdtempSync(path.join(request.sessionDir, 'import-'));
  try {
    const objects = git(request.project, ['rev-parse', '--path-format=absolute', '--git-path', 'objects'])
      .toString()
      .trimEnd();
    git(quarantine, ['init', '-q', '--bare', `--object-format=${head.objectFormat}`, '--template=', '.']);
    mkdirSync(path.join(quarantine, 'objects', 'info'), { recursive: true });
    writeFileSync(path.join(quarantine, 'objects', 'info', 'alternates'), `${objects}\n`);
    const pack = request.bundle.subarray(head.packAt);
    git(quarantine, ['index-pack', '--stdin', '--strict', '--fix-thin', `--max-input-size=${request.maxBytes}`], pack);
    const refs = [...head.branches].map(([branch, commit]) => ({
      branch,
      commit,
      ref: `refs/run-claude/${request.sessionId}/${branch}`,
    }));
    const ids = refs.map(({ commit }) => `${commit}\n`).join('');
    // Complete, and commits: a missing object is an error here and is never fetched from elsewhere.
    git(quarantine, ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--alternate-refs'], Buffer.from(ids));
    const create = refs.map(({ branch, commit }) => `create refs/heads/${branch}\0${commit}\0`).join('');
    git(quarantine, ['update-ref', '--stdin', '-z'], Buffer.from(create));
    const wanted = refs.map(({ branch, ref }) => `+refs/heads/${branch}:${ref}`);
    const quiet = ['--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance', '--quiet'];
    git(request.project, ['fetch', ...quiet, '--end-of-options', quarantine, ...wanted]);
    return refs;
  } finally {
    rmSync(quarantine, { recursive: true, force: true });
  }
}

/** Plumbing with hooks, helpers and other transports off; nothing of the session is configuration here. */
function git(cwd: string, args: readonly string[], input?: Buffer): Buffer {
  const off = [
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'transfer.fsckObjects=true',
    'protocol.allow=never',
    'protocol.file.allow=always',
    'gc.auto=0',
  ];
  const words = [...off.flatMap((setting) => ['-c', setting]), ...args];
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
  const safe = { ...env, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
  const result = spawnSync('git', words, {
    cwd,
    env: safe,
    input: input ?? Buffer.alloc(0),
    timeout: 300_000,
    maxBuffer: 64 << 20,
  });
  if (result.status === 0) return result.stdout;
  const why = result.error?.message ?? result.stderr.toString().trim().split('\n').at(-1) ?? 'git failed';
  throw refused(why);
}

function refused(why: string): RunClaudeError {
  return new RunClaudeError('COMMITS_REFUSED', `the session's commits cannot be taken: ${why}`, {
    hint: 'Nothing was imported; the session keeps its commits.',
  });
}

import { realpathSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import { limitedOutput } from './processes/limited-output.ts';
import { agentFolders, missingProgramHint, spawn } from './programs/start-program.ts';

/**
 * git and gh with the user's own configuration. Only what the user asked for by name runs here: a commit that may be
 * signed, a push, a pull request. Hooks are off. Credential helpers, the transport and the signing program are those that
 * the user configured.
 */

export interface UserProgram {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const MAX_OUTPUT_BYTES = 16 << 20;
const MAX_REASON_CHARACTERS = 2_000;

/** Settings that neither the repository nor the user's files override. */
const FIXED: readonly (readonly [key: string, value: string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['protocol.ext.allow', 'never'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** Variables that would lead git to another repository than the project's. */
const PLACES = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
];

/**
 * Output of a git command that the user's configuration applies to. `settings`: further `key=value` rows.
 *
 * @throws {RunClaudeError} GIT_MISSING, GIT_FAILED with git's last lines, GIT_TIMEOUT, GIT_CONFIG_IN_PROJECT.
 */
export async function runUserGit(
  [command, ...args]: readonly [command: 'commit-tree' | 'config' | 'push', ...args: string[]],
  options: UserProgram & { readonly settings?: readonly string[] },
): Promise<string> {
  await requireOwnConfig(options);
  const rows = [...FIXED.map(([key, value]) => `${key}=${value}`), ...(options.settings ?? [])];
  const words = ['--no-pager', '--no-optional-locks', ...rows.flatMap((row) => ['-c', row]), command, ...args];
  return run('git', words, withoutPlaces(options), `git ${command}`);
}

/**
 * Output of `gh`, which runs git by itself: with hooks off too. It asks nothing.
 *
 * @throws {RunClaudeError} GH_MISSING, GH_FAILED with its last lines, GH_TIMEOUT.
 */
export async function runGh(args: readonly string[], options: UserProgram): Promise<string> {
  await requireOwnConfig(options);
  const { env } = withoutPlaces(options);
  const known = Number(env['GIT_CONFIG_COUNT'] ?? 0) || 0;
  const settings = FIXED.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${known + at}`, key],
    [`GIT_CONFIG_VALUE_${known + at}`, value],
  ]);
  const own = { GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
  const counted = { GIT_CONFIG_COUNT: String(known + FIXED.length), ...Object.fromEntries(settings) };
  return run('gh', args, { ...options, env: { ...env, ...own, ...counted } }, `gh ${args.slice(0, 2).join(' ')}`);
}

/**
 * Refuses a configuration that includes a file which an agent can write: it may name programs. The repository's own
 * directory is the user's.
 *
 * @throws {RunClaudeError} GIT_CONFIG_IN_PROJECT
 */
async function requireOwnConfig(options: UserProgram): Promise<void> {
  const here = { ...withoutPlaces(options), input: '' };
  const listed = await run(
    'git',
    ['config', '--list', '--show-origin', '--name-only', '--includes', '-z'],
    here,
    'git config',
  );
  const own = (await run('git', ['rev-parse', '--git-dir', '--git-common-dir'], here, 'git rev-parse'))
    .trim()
    .split('\n');
  const dirs = own.map((dir) => `${realpathSync(path.resolve(options.cwd, dir))}/`);
  for (const origin of new Set(listed.split('\0').filter((field) => field.startsWith('file:')))) {
    const file = path.resolve(options.cwd, origin.slice('file:'.length));
    if (agentFolders.resolve(file) !== 'inside' || dirs.some((dir) => realpathSync(file).startsWith(dir))) continue;
    throw new RunClaudeError(
      'GIT_CONFIG_IN_PROJECT',
      `git's configuration includes a file that an agent can write: ${file}`,
      {
        hint: 'It may name programs that run on your machine. Remove the include, or keep the file elsewhere.',
      },
    );
  }
}

function withoutPlaces(options: UserProgram): UserProgram {
  const kept = Object.entries(options.env).filter(([name]) => !PLACES.includes(name));
  return { ...options, env: { ...Object.fromEntries(kept), LC_ALL: 'C' } };
}

async function run(
  program: 'git' | 'gh',
  args: readonly string[],
  { cwd, env, input = '', timeoutMs = DEFAULT_TIMEOUT_MS }: UserProgram,
  what: string,
): Promise<string> {
  const code = program.toUpperCase();
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const { status, stdout, stderr, isTimedOut } = await limitedOutput(child, input, {
    timeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  }).catch((cause: Error) => {
    throw new RunClaudeError(`${code}_MISSING`, `${program} cannot start: ${cause.message}`, {
      cause,
      hint: missingProgramHint(program),
    });
  });
  if (isTimedOut) throw new RunClaudeError(`${code}_TIMEOUT`, `${what} took longer than ${timeoutMs / 1000} s`);
  if (status === 0) return stdout.toString();
  const reason = `${stdout.toString().slice(-MAX_REASON_CHARACTERS)}\n${stderr}`;
  const lines = reason.split('\n').map((line) => line.trim());
  throw new RunClaudeError(
    `${code}_FAILED`,
    `${what} failed: ${lines
      .filter((line) => line !== '')
      .slice(-6)
      .join('; ')}`,
  );
}

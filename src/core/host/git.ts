import { RunClaudeError } from '../errors.ts';
import { limitedOutput } from './processes/limited-output.ts';
import { type ProgramResult, type RunProgram, runProgram } from './processes/run-program.ts';
import { missingProgramHint, outputOfProgram, programFile, spawn, spawnSync } from './programs/start-program.ts';

/**
 * Every git process of the host starts here. It reads repositories whose configuration may name programs: hooks,
 * drivers, helpers and transports are all off, so that nothing runs and nothing is fetched.
 */

/** Subcommands in use: plumbing, and two that have no plumbing form. An alias cannot replace a built-in command. */
export type GitCommand =
  | 'apply'
  | 'cat-file'
  | 'check-attr'
  | 'diff-index'
  | 'diff-tree'
  | 'fetch'
  | 'for-each-ref'
  | 'hash-object'
  | 'index-pack'
  | 'init'
  | 'log'
  | 'ls-files'
  | 'ls-tree'
  | 'merge-base'
  | 'mktree'
  | 'pack-objects'
  | 'read-tree'
  | 'rev-list'
  | 'rev-parse'
  | 'show-index'
  | 'symbolic-ref'
  | 'update-index'
  | 'update-ref'
  | 'worktree';

export type GitArguments = readonly [command: GitCommand, ...args: string[]];

export interface GitOptions {
  /** Directory that git starts in. Git looks for the repository from there, unless `gitDir` names it. */
  readonly cwd?: string;
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly indexFile?: string;
  readonly input?: Buffer | string;
  /** Limit of the elapsed time, and of the processor time. */
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  /** Allows `fetch` from a directory of this machine. Every other transport stays off. */
  readonly allowsFileTransport?: boolean;
  /**
   * Allows `fetch` over https, and over http from this machine, with a value of the header Authorization that no other
   * process can read. Redirects are not followed.
   */
  readonly network?: { readonly env: NodeJS.ProcessEnv; readonly authorization?: string | undefined };
  /** Reads the commit-graph file: a long history takes half the time. Only for the user's own repository. */
  readonly readsCommitGraph?: boolean;
  /**
   * Environment of the user whose `safe.directory` settings decide whether git may read a repository of another owner.
   * Without it git reads repositories of any owner, and no configuration but the repository's.
   */
  readonly ownerCheckedFor?: NodeJS.ProcessEnv;
}

const DEFAULT_TIMEOUT_MS = 300_000;
const DEFAULT_MAX_OUTPUT_BYTES = 2 ** 30;

/** `key=value` rows that the repository's own configuration cannot override. */
export const HARDENING: readonly string[] = [
  // Programs that git starts by itself.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'core.pager=cat',
  'core.editor=false',
  'core.askPass=false',
  'credential.helper=',
  'gc.auto=0',
  'maintenance.auto=false',
  'log.showSignature=false',
  // Transports. The environment variable GIT_ALLOW_PROTOCOL names the one exception.
  'core.sshCommand=false',
  'core.gitProxy=false',
  'protocol.allow=never',
  'protocol.ext.allow=never',
  'protocol.ssh.allow=never',
  'fetch.recurseSubmodules=false',
  'submodule.recurse=false',
  // What git reads: the objects as they are, each of them checked on arrival.
  'core.attributesFile=/dev/null',
  'core.commitGraph=false',
  'core.useReplaceRefs=false',
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  // Memory: maps of packs, and the stacks and heaps of threads, count towards the limit of the address space.
  'core.packedGitLimit=1g',
  'core.packedGitWindowSize=32m',
  'pack.threads=4',
  'pack.windowMemory=256m',
];

/** A difference that git prints may be made by a driver of the repository, unless these options are there. */
const WITHOUT_DRIVERS = ['--no-ext-diff', '--no-textconv'];
const PRINTS_DIFFERENCES: ReadonlySet<GitCommand> = new Set(['diff-index', 'diff-tree', 'log']);

/** A pack of a few kilobytes can unpack to any size. macOS has no limit of the address space. */
const MAX_ADDRESS_SPACE_KIB = 4 * 1024 * 1024;

/**
 * Output of a git command.
 * @throws {RunClaudeError} GIT_MISSING when git cannot start, GIT_FAILED when it fails, GIT_TIMEOUT after `timeoutMs`,
 *   GIT_TOO_MUCH when it writes more than `maxOutputBytes`.
 */
export function runGitSync(args: GitArguments, options: GitOptions = {}): Buffer {
  const { input = '', timeoutMs = DEFAULT_TIMEOUT_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const { stdout, stderr, status, signal, error } = spawnSync('/bin/sh', commandLine(args, options), {
    ...placeAndEnvironment(options),
    input,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: maxOutputBytes,
  });
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOBUFS') throw tooMuch(args, maxOutputBytes);
  if (code === 'ETIMEDOUT') throw timedOut(args, timeoutMs);
  // A git that ends before it has read its input closes the pipe. Its status says why.
  if (error !== undefined && code !== 'EPIPE') throw missing(error.message, error);
  if (status !== 0) throw failed(args, { status, signal, stderr: stderr.toString() });
  return stdout;
}

/** As {@link runGitSync}, without blocking the process. */
export async function runGit(args: GitArguments, options: GitOptions = {}): Promise<Buffer> {
  const { input = '', timeoutMs = DEFAULT_TIMEOUT_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const child = spawn('/bin/sh', commandLine(args, options), {
    ...placeAndEnvironment(options),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { status, signal, stdout, stderr, isTimedOut, isTooMuch } = await limitedOutput(child, input, {
    timeoutMs,
    maxOutputBytes,
  }).catch((cause: Error) => {
    throw missing(cause.message, cause);
  });
  if (isTooMuch) throw tooMuch(args, maxOutputBytes);
  if (isTimedOut) throw timedOut(args, timeoutMs);
  if (status !== 0) throw failed(args, { status, signal, stderr });
  return stdout;
}

/** Whether a git command succeeds; for commands that answer by their exit status. */
export function gitSucceeds(args: GitArguments, options: GitOptions = {}): boolean {
  try {
    runGitSync(args, options);
    return true;
  } catch (error) {
    if (error instanceof RunClaudeError) return false;
    throw error;
  }
}

/**
 * The user's global configuration as `git config --list -z` prints it, includes for this project resolved. Runs
 * nothing that the configuration names.
 */
export function listGlobalConfig(
  project: string,
  env: NodeJS.ProcessEnv,
  run: RunProgram = runProgram,
): Promise<ProgramResult> {
  return run(['git', '-C', project, 'config', '--global', '--includes', '--list', '-z'], {
    env: {
      PATH: env['PATH'],
      HOME: env['HOME'],
      XDG_CONFIG_HOME: env['XDG_CONFIG_HOME'],
      GIT_CONFIG_GLOBAL: env['GIT_CONFIG_GLOBAL'],
      GIT_TERMINAL_PROMPT: '0',
    },
  });
}

/** What `git --version` prints. Rejects with ENOENT when there is no git. */
export async function gitVersion(): Promise<string> {
  const { stdout } = await outputOfProgram('git', ['--version'], { timeout: 10_000 });
  return stdout;
}

/** Arguments of sh, which sets the limits and becomes git. */
function commandLine(args: GitArguments, options: GitOptions): string[] {
  const [command, ...rest] = args;
  const seconds = Math.ceil((options.timeoutMs ?? DEFAULT_TIMEOUT_MS) / 1000);
  const limits = `ulimit -v ${MAX_ADDRESS_SPACE_KIB} 2>/dev/null; ulimit -t ${seconds} 2>/dev/null; exec "$0" "$@"`;
  return [
    ...[
      '-c',
      limits,
      programFile('git', placeAndEnvironment(options).env) ?? 'git',
      '--no-pager',
      '--no-optional-locks',
    ],
    ...HARDENING.flatMap((row) => ['-c', row]),
    ...(options.readsCommitGraph === true ? ['-c', 'core.commitGraph=true'] : []),
    ...(options.ownerCheckedFor === undefined ? ['-c', 'safe.directory=*'] : []),
    ...(options.gitDir === undefined ? [] : [`--git-dir=${options.gitDir}`]),
    command,
    ...(PRINTS_DIFFERENCES.has(command) ? WITHOUT_DRIVERS : []),
    ...rest,
  ];
}

/** Variables of the user that lead git to the configuration with `safe.directory`. */
const OWNER_CHECK_VARIABLES = [
  'HOME',
  'XDG_CONFIG_HOME',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
];

/** No variable of this process reaches git, except those named here: many of them start programs. */
function placeAndEnvironment(options: GitOptions): { readonly cwd?: string; readonly env: NodeJS.ProcessEnv } {
  const { cwd = options.workTree, workTree, indexFile, allowsFileTransport = false, ownerCheckedFor } = options;
  const configuration =
    ownerCheckedFor === undefined
      ? { HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
      : Object.fromEntries(
          OWNER_CHECK_VARIABLES.flatMap((name) =>
            ownerCheckedFor[name] === undefined ? [] : [[name, ownerCheckedFor[name]]],
          ),
        );
  const env = {
    PATH: (ownerCheckedFor ?? process.env)['PATH'] ?? '/usr/bin:/bin',
    LC_ALL: 'C',
    ...configuration,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_ALLOW_PROTOCOL: allowsFileTransport ? 'file' : '',
    ...networkEnvironment(options.network),
    ...(workTree === undefined ? {} : { GIT_WORK_TREE: workTree }),
    ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
  };
  return cwd === undefined ? { env } : { cwd, env };
}

/** Variables of the user's that say how a request leaves this machine. */
const NETWORK_VARIABLES = [
  ...['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'NO_PROXY', 'no_proxy'],
  ...['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

function networkEnvironment(network: GitOptions['network']): NodeJS.ProcessEnv {
  if (network === undefined) return {};
  const { env, authorization } = network;
  const rows = [
    ['http.followRedirects', 'false'],
    ...(authorization === undefined ? [] : [['http.extraHeader', `Authorization: ${authorization}`]]),
  ];
  return {
    GIT_ALLOW_PROTOCOL: 'https:http',
    ...Object.fromEntries(NETWORK_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    GIT_CONFIG_COUNT: String(rows.length),
    ...Object.fromEntries(
      rows.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}

interface GitEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

function failed([command]: GitArguments, { status, signal, stderr }: GitEnd): RunClaudeError {
  const lines = stderr.trim().split('\n');
  // sh reports that it found no git.
  if (status === 127 || status === 126) return missing(lines.at(-1) ?? '');
  const reason =
    lines.find((line) => line.startsWith('fatal: ')) || lines.at(-1) || `it ended with ${signal ?? status}`;
  return new RunClaudeError('GIT_FAILED', `git ${command} failed: ${reason}`);
}

function missing(why: string, cause?: Error): RunClaudeError {
  return new RunClaudeError('GIT_MISSING', `git cannot start: ${why}`, { cause, hint: missingProgramHint('git') });
}

function timedOut([command]: GitArguments, timeoutMs: number): RunClaudeError {
  return new RunClaudeError('GIT_TIMEOUT', `git ${command} took longer than ${timeoutMs / 1000} s`);
}

function tooMuch([command]: GitArguments, maxBytes: number): RunClaudeError {
  return new RunClaudeError('GIT_TOO_MUCH', `git ${command} writes more than ${Math.floor(maxBytes / 1_048_576)} MiB`);
}

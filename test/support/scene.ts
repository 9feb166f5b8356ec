import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removeSessionObjects } from './engine.ts';
import { Pty } from './pty.ts';

export const packageRoot: string = path.resolve(import.meta.dirname, '../..');
export const mainJs: string = path.join(packageRoot, 'dist', 'main.js');

const TRIAL = 'overlay-trial.json';

export interface RunResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SceneOptions {
  /** URL of the stand-in for the Messages API; none: no credential and no provider. */
  readonly apiUrl?: string;
  readonly apiKey?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The user is not root: everything belongs to another user, who may use the engine's socket. */
  readonly plain?: boolean;
}

/** An id that no account has. */
const PLAIN_UID = 48_213;
const SOCKET = '/var/run/docker.sock';

/**
 * A user's machine in a temporary directory: a home, run-claude's directories and one project with history. Disposing
 * it removes everything in it, and every engine object that its sessions left.
 */
export class Scene implements AsyncDisposable {
  readonly root: string = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-scene-')));
  readonly project: string = path.join(this.root, 'project');
  readonly home: string = path.join(this.root, 'home');
  readonly env: Readonly<Record<string, string>>;
  /** The result of an earlier scene's overlay trial on this engine and image; the command checks that it applies. */
  private readonly sharedTrial: string;
  /** The owner of the machine, where that is not the user who runs the test. */
  private readonly as: { readonly uid: number; readonly gid: number } | undefined;

  constructor(options: SceneOptions = {}) {
    const plain = options.plain === true && process.getuid?.() === 0;
    this.as = plain ? { uid: PLAIN_UID, gid: statSync(SOCKET).gid } : undefined;
    // A trial holds for the user that it was made with.
    this.sharedTrial = path.join((plain ? undefined : process.env['RUN_CLAUDE_TESTS_SHARED']) ?? this.root, TRIAL);
    mkdirSync(this.home, { mode: 0o700 });
    this.give(this.root, this.home);
    this.env = {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: this.home,
      LANG: 'C.UTF-8',
      XDG_STATE_HOME: path.join(this.root, 'state'),
      XDG_CACHE_HOME: path.join(this.root, 'cache'),
      XDG_DATA_HOME: path.join(this.root, 'data'),
      XDG_CONFIG_HOME: path.join(this.root, 'config'),
      GIT_CONFIG_NOSYSTEM: '1',
      ...pass('NODE_EXTRA_CA_CERTS', 'DOCKER_HOST', 'SSL_CERT_FILE', 'npm_config_registry'),
      ...(options.apiUrl === undefined ? {} : { ANTHROPIC_BASE_URL: options.apiUrl }),
      ...(options.apiKey === undefined ? {} : { ANTHROPIC_API_KEY: options.apiKey }),
      ...options.env,
    };
    this.makeProject();
    const { stateDir } = this.places();
    if (existsSync(this.sharedTrial)) {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      copyFileSync(this.sharedTrial, path.join(stateDir, TRIAL));
    }
  }

  /** A small repository with three commits and a remote that carries a token in its URL. */
  private makeProject(): void {
    for (let i = 1; i <= 14; i++) this.write(`src/file${i}.txt`, `file ${i}\nsecond line\nthird line\n`);
    this.write('Makefile', 'all:\n\techo hello\n');
    this.write('README.md', '# sample\n');
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'Person');
    this.git('config', 'user.email', 'person@example.org');
    for (const message of ['first', 'second', 'third']) {
      this.write('log.txt', `${message}\n`);
      this.git('add', '-A');
      this.git('commit', '-q', '-m', message);
    }
    this.git('remote', 'add', 'origin', 'https://user:TOKEN-IN-URL@example.org/sample.git');
  }

  /** Where sessions run with this scene's environment keep their records, copies and data. */
  places(): { readonly stateDir: string; readonly cacheDir: string; readonly dataDir: string } {
    const below = (name: string): string => path.join(this.root, name, 'run-claude');
    return { stateDir: below('state'), cacheDir: below('cache'), dataDir: below('data') };
  }

  write(name: string, content: string | Uint8Array, mode?: number): void {
    const target = path.join(this.project, name);
    const made = mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, content);
    if (mode !== undefined) chmodSync(target, mode);
    this.give(target);
    for (let dir = path.dirname(target); made !== undefined && dir.startsWith(made); dir = path.dirname(dir)) {
      this.give(dir);
    }
  }

  private give(...paths: readonly string[]): void {
    if (this.as === undefined) return;
    for (const one of paths) chownSync(one, this.as.uid, this.as.gid);
  }

  /** Runs a shell script in the project as the user; returns its output. */
  shell(script: string): string {
    return execFileSync('bash', ['-ec', script], { cwd: this.project, env: this.env, encoding: 'utf8', ...this.as });
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.project, env: this.env, encoding: 'utf8', ...this.as });
  }

  /** Digest of every name, mode and byte below a directory of the project, times left out. */
  fingerprint(below = '.'): string {
    const script = `find . -printf '%y %m %l %p\\n' | LC_ALL=C sort | sha256sum; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum | sha256sum`;
    return execFileSync('sh', ['-c', script], { cwd: path.join(this.project, below), encoding: 'utf8' });
  }

  /** Keeps a copy of the project as it is now, for later comparison by name. */
  snapshot(name: string): string {
    const target = path.join(this.root, name);
    cpSync(this.project, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return target;
  }

  /** Runs run-claude without a terminal. Never throws for an exit status. */
  run(
    args: readonly string[],
    options: {
      readonly input?: string;
      readonly timeoutMs?: number;
      readonly env?: Readonly<Record<string, string>>;
      /** Default: the project. */
      readonly cwd?: string;
    } = {},
  ): Promise<RunResult> {
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [mainJs, ...args],
        {
          cwd: options.cwd ?? this.project,
          env: { ...this.env, ...options.env },
          timeout: options.timeoutMs ?? 600_000,
          maxBuffer: 1 << 26,
          ...this.as,
        },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 255;
          resolve({ status: code, stdout, stderr });
        },
      );
      child.stdin?.end(options.input ?? '');
    });
  }

  /** run-claude as a background process, for tests that kill it. Its stdin stays open after `input`. */
  spawn(args: readonly string[], input?: string, env: NodeJS.ProcessEnv = {}): ReturnType<typeof spawn> {
    const child = spawn(process.execPath, [mainJs, ...args], {
      cwd: this.project,
      env: { ...this.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...this.as,
    });
    child.stdin?.write(input);
    return child;
  }

  /** run-claude in a pseudo-terminal. */
  pty(args: readonly string[], size: { readonly columns?: number; readonly rows?: number } = {}): Pty {
    return new Pty([process.execPath, mainJs, ...args], { cwd: this.project, env: this.env, ...size });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { stateDir } = this.places();
    const found = path.join(stateDir, TRIAL);
    const works =
      existsSync(found) && (JSON.parse(readFileSync(found, 'utf8')) as { trial: { works: boolean } }).trial.works;
    const sameEngine = this.env['DOCKER_HOST'] === process.env['DOCKER_HOST'];
    if (works && sameEngine && !existsSync(this.sharedTrial)) copyFileSync(found, this.sharedTrial);
    if (existsSync(path.join(stateDir, 'sessions'))) {
      await this.run(['gc', '--yes']);
      for (const id of readdirSync(path.join(stateDir, 'sessions'))) removeSessionObjects(id);
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}

function pass(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

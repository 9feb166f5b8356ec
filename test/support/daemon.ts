import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A daemon in its own network and mount namespace; all its processes are killed at the end. */
export class Daemon implements AsyncDisposable {
  readonly dir: string = mkdtempSync(path.join(tmpdir(), 'run-claude-daemon-'));
  readonly socket: string = path.join(this.dir, 'run', 'sock');
  readonly #child: ReturnType<typeof spawn>;

  constructor(command: (dir: string, socket: string) => string) {
    chmodSync(this.dir, 0o711);
    mkdirSync(path.join(this.dir, 'run'), { mode: 0o777 });
    chmodSync(path.join(this.dir, 'run'), 0o777);
    const script = `ip link set lo up && ${command(this.dir, this.socket)}`;
    const within = [
      '-n',
      '-m',
      '-p',
      '-f',
      '--mount-proc',
      '--kill-child',
      '--propagation',
      'private',
      'sh',
      '-c',
      script,
    ];
    const log = `${this.dir}/log`;
    // Podman's monitor leaves a file where it was started.
    this.#child = spawn('sh', ['-c', `exec unshare "$@" >${log} 2>&1`, 'sh', ...within], {
      cwd: this.dir,
      stdio: 'ignore',
    });
  }

  async answers(): Promise<void> {
    for (const end = Date.now() + 120_000; ; ) {
      if (spawnSync('docker', ['-H', `unix://${this.socket}`, 'version']).status === 0) return;
      if (Date.now() > end || this.#child.exitCode !== null) {
        const log = path.join(this.dir, 'log');
        throw new Error(`the daemon: ${existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : 'never started'}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('close', resolve));
    // The first process of its namespace takes all others with it; one that changed its user outlives its parent.
    const { pid } = this.#child;
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), 'SIGKILL');
    await ended;
    rmSync(this.dir, { recursive: true, force: true });
  }
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectForTest } from './engine.ts';
import { runLabel, testImage } from './image.ts';

/**
 * What a session by a shell and the probes need of the image, a tenth of its size: our programs, Node for the gateway,
 * git, bash, tar, head (which takes no byte too many from a pipe, as that of busybox does), busybox.
 * It takes the image's name on the second engine, where nothing else of that name is.
 */
const dockerfile = (): string => `ARG OURS
FROM $OURS AS ours
LABEL ${runLabel()}
USER 0
RUN mkdir /mini && cd / && for f in "$(command -v node)" /usr/bin/env /usr/bin/sync /usr/bin/git /usr/bin/sleep /usr/bin/bash /usr/bin/tar \\
    /usr/bin/head; do \\
  cp -L --parents "$f" /mini; ldd "$f" | grep -o '/[^ ]*' | xargs cp -L --parents -t /mini; done; \\
  cp -a --parents /usr/lib/run-claude /etc/passwd /etc/group /etc/ld.so.preload /etc/gitconfig /home/agent /workspace /run/run-claude /tmp /mini
FROM scratch
COPY --from=ours /mini/ /
COPY busybox /bin/
LABEL run-claude.image=session
RUN ["/bin/busybox", "sh", "-c", "busybox --install /bin && rm /bin/sleep /bin/head /bin/mount /bin/su && ln -s /usr/bin/sleep /usr/bin/head /usr/bin/bash /bin"]
USER agent
WORKDIR /workspace
`;

export interface SecondEngineOptions {
  /** Users inside are others outside: uid 0 is 100000. */
  readonly remapped?: boolean;
  /** Its data is on a disk of this size, such as 600m. */
  readonly disk?: string;
  /** Runtimes besides runc, as the daemon's configuration has them. */
  readonly runtimes?: Readonly<Record<string, { readonly path: string; readonly runtimeArgs: readonly string[] }>>;
}

/** A Docker daemon of the test's own, in its own network namespace: the user's daemon is never touched. Linux, root. */
export class SecondEngine {
  readonly dir: string = mkdtempSync(path.join(tmpdir(), 'run-claude-engine-'));
  readonly host: string = `unix://${path.join(this.dir, 'sock')}`;
  /** Keeps the network namespace through a restart: removed bridges make the daemon fail. */
  private readonly network: ChildProcess = spawn('unshare', ['-n', 'sh', '-c', 'ip link set lo up; exec sleep 86400'], {
    stdio: 'ignore',
  });

  readonly #options: SecondEngineOptions;

  constructor(options: SecondEngineOptions = {}) {
    this.#options = options;
    if (options.disk !== undefined) {
      mkdirSync(path.join(this.dir, 'data'));
      const where = ['run-claude-test', path.join(this.dir, 'data')];
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${options.disk}`, ...where]);
    }
    // Its remapped users must reach their directories.
    if (options.remapped === true) chmodSync(this.dir, 0o711);
  }

  /** Starts it, or starts it again. */
  async start(): Promise<void> {
    // Never in this machine's own namespace: its bridge and rules are another engine's.
    const own = readlinkSync('/proc/self/ns/net');
    await this.until(() => readlinkSync(`/proc/${this.network.pid}/ns/net`) !== own);
    const at = (name: string): string => path.join(this.dir, name);
    writeFileSync(at('daemon.json'), JSON.stringify({ runtimes: this.#options.runtimes ?? {} }));
    const files = `--config-file ${at('daemon.json')} --data-root ${at('data')} --exec-root ${at('exec')} --pidfile ${at('pid')}`;
    const script = `${this.remap()} >>${at('log')} 2>&1 ${files} -H ${this.host}`;
    const within = ['-t', String(this.network.pid), '-n', 'sh', '-c', script];
    const daemon = spawn('nsenter', within, { detached: true, stdio: 'ignore' });
    daemon.unref();
    await this.until(() => {
      if (daemon.exitCode !== null) throw new Error(`the second engine ended: ${this.lastWords()}`);
      return this.answers();
    });
  }

  /** Ends it as a restart of the service does: every container is ended with it. */
  async stop(): Promise<void> {
    const pid = Number(readFileSync(path.join(this.dir, 'pid'), 'utf8'));
    process.kill(pid);
    await this.until(() => !isAlive(pid));
  }

  docker(...words: readonly string[]): string {
    return execFileSync('docker', ['-H', this.host, ...words], { encoding: 'utf8' });
  }

  /** Brings the small image, or the whole one, over by the name that a session asks for. */
  async bringImage({ whole = false } = {}): Promise<void> {
    const first = await connectForTest();
    const tag = await testImage(first);
    await first.close();
    if (whole) {
      this.load(tag);
      return;
    }
    const context = path.join(this.dir, 'context');
    mkdirSync(context);
    writeFileSync(path.join(context, 'Dockerfile'), dockerfile());
    copyFileSync(
      execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim(),
      path.join(context, 'busybox'),
    );
    const small = `run-claude-test-small:${path.basename(this.dir).toLowerCase()}`;
    execFileSync('docker', ['build', '-q', '--network', 'none', '--build-arg', `OURS=${tag}`, '-t', small, context], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.load(small);
    execFileSync('docker', ['rmi', small], { stdio: 'ignore' });
    this.docker('tag', small, tag);
  }

  private load(image: string): void {
    execFileSync('sh', ['-c', 'docker save "$1" | docker -H "$2" load -q', 'sh', image, this.host], {
      stdio: 'ignore',
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.answers()) await this.stop();
    this.network.kill();
    const mounted = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[1] ?? '');
    for (const at of mounted.filter((one) => one.startsWith(`${this.dir}/`)).reverse())
      execFileSync('umount', ['-l', at]);
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** The command; this machine's own table of subordinate ids is covered for this daemon alone. */
  private remap(): string {
    if (this.#options.remapped !== true) return 'exec dockerd';
    const ids = path.join(this.dir, 'subids');
    writeFileSync(ids, 'nobody:100000:65536\n');
    const cover = `mount --bind ${ids} /etc/subuid && mount --bind ${ids} /etc/subgid`;
    return `exec unshare -m --propagation slave sh -c '${cover} && exec dockerd --userns-remap nobody:nogroup "$@"' sh`;
  }

  private lastWords(): string {
    const log = path.join(this.dir, 'log');
    return existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : 'it never started';
  }

  private answers(): boolean {
    try {
      execFileSync('docker', ['-H', this.host, 'version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  private async until(done: () => boolean): Promise<void> {
    for (const end = Date.now() + 180_000; !done(); ) {
      if (Date.now() > end) throw new Error(`the second engine: ${this.lastWords()}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

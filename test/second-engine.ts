import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SecondEngineOptions {
  /** Puts the engine's data on a file system of this size, so that it can be filled. */
  readonly diskMb?: number;
  /** The daemon keeps containers running while it is down. */
  readonly liveRestore?: boolean;
}

/** A Docker daemon of the test's own: what would hurt the person's engine (restart, prune, a full disk) is done here. */
export interface SecondEngine extends AsyncDisposable {
  /** For DOCKER_HOST. */
  readonly host: string;
  /** Runs the docker command against it. */
  docker(argv: readonly string[]): string;
  /** Copies an image from the test run's engine. */
  load(tag: string): void;
  /** Ends the daemon as SIGTERM does (or SIGKILL), and starts it again. */
  restart(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts it in a temporary directory; needs root. Its own socket, data, runtime state, pidfile, bridge, cgroup. */
export async function startSecondEngine(options: SecondEngineOptions = {}): Promise<SecondEngine> {
  const dir = mkdtempSync(path.join(tmpdir(), 'rc2-'));
  const data = path.join(dir, 'data');
  mkdirSync(data);
  if (options.diskMb !== undefined) mountSmallDisk(dir, data, options.diskMb);
  const socket = path.join(dir, 'docker.sock');
  const host = `unix://${socket}`;
  const bridge = `rc${process.pid % 100_000}`;
  execFileSync('ip', ['link', 'add', bridge, 'type', 'bridge']);
  execFileSync('ip', ['addr', 'add', '10.213.77.1/24', 'dev', bridge]);
  execFileSync('ip', ['link', 'set', bridge, 'up']);
  const config = path.join(dir, 'daemon.json');
  writeFileSync(config, JSON.stringify({ 'live-restore': options.liveRestore === true }));
  let daemon: ChildProcess | undefined;

  const docker = (argv: readonly string[]): string =>
    execFileSync('docker', ['-H', host, ...argv], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  const start = async (): Promise<void> => {
    const log = openSync(path.join(dir, 'dockerd.log'), 'a');
    const argv = [
      ...['--config-file', config, '--host', host, '--data-root', data, '--exec-root', path.join(dir, 'exec')],
      ...['--pidfile', path.join(dir, 'docker.pid'), '--bridge', bridge, '--cgroup-parent', `rc2-${process.pid}`],
      ...['--iptables=false', '--ip6tables=false', '--ip-masq=false', '--group', String(process.getgid?.() ?? 0)],
    ];
    const child = spawn('dockerd', argv, { stdio: ['ignore', log, log] });
    daemon = child;
    for (let tries = 0; tries < 600; tries += 1) {
      if (child.exitCode !== null) break;
      try {
        docker(['version', '--format', '{{.Server.Version}}']);
        return;
      } catch {
        await sleep(200);
      }
    }
    throw new Error(
      `the second engine did not start:\n${readFileSync(path.join(dir, 'dockerd.log'), 'utf8').slice(-2000)}`,
    );
  };

  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
    const child = daemon;
    daemon = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
    if (signal === 'SIGKILL') rmSync(path.join(dir, 'docker.pid'), { force: true });
  };

  await start();
  return {
    host,
    docker,
    load: (tag) => {
      execFileSync('sh', ['-c', 'docker save "$1" | docker -H "$2" load', 'sh', tag, host], { stdio: 'pipe' });
    },
    start,
    stop: () => stop(),
    restart: async (signal = 'SIGTERM') => {
      await stop(signal);
      await start();
    },
    [Symbol.asyncDispose]: async () => {
      try {
        if (daemon !== undefined) {
          const containers = docker(['ps', '-aq']).split('\n').filter(Boolean);
          if (containers.length > 0) docker(['rm', '-f', ...containers]);
        }
      } finally {
        await stop();
        execFileSync('ip', ['link', 'delete', bridge]);
        unmountBelow(dir);
        rmSync(dir, { recursive: true, force: true });
      }
    },
  };
}

function mountSmallDisk(dir: string, data: string, sizeMb: number): void {
  const file = path.join(dir, 'disk');
  execFileSync('truncate', ['-s', `${sizeMb}M`, file]);
  execFileSync('mkfs.ext4', ['-q', '-F', file]);
  execFileSync('mount', ['-o', 'loop', file, data]);
}

/** Everything that the daemon or we mounted under our own temporary directory, deepest first. */
function unmountBelow(dir: string): void {
  const points = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(`${dir}/`));
  for (const point of points.reverse()) execFileSync('umount', ['-l', point]);
}

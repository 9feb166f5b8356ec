import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Daemon } from './daemon.ts';
import { connectForTest } from './engine.ts';
import { testImage } from './image.ts';

/**
 * Podman's service on its own socket, with its own storage, in a network and mount namespace of its own. It
 * can be started again with another runtime on the same storage. scripts/install-tools.sh brings Podman and its
 * runtimes.
 */
export class Podman implements AsyncDisposable {
  readonly storage: string = mkdtempSync(path.join(tmpdir(), 'run-claude-podman-'));
  #daemon: Daemon | undefined;

  get host(): string {
    return `unix://${this.socket}`;
  }

  get socket(): string {
    if (this.#daemon === undefined) throw new Error('Podman is not started');
    return this.#daemon.socket;
  }

  async start(runtime: 'crun' | 'runc'): Promise<void> {
    await this.stop();
    const at = (name: string): string => path.join(this.storage, name);
    mkdirSync(at('networks'), { recursive: true });
    const places = `--root ${at('root')} --runroot ${at('run')} --tmpdir ${at('tmp')} --network-config-dir ${at('networks')}`;
    this.#daemon = new Daemon((_dir, socket) =>
      [
        // crun wants either version of cgroups, not both.
        '{ umount /sys/fs/cgroup/unified 2>/dev/null; true; }',
        `exec podman ${places} --cgroup-manager cgroupfs --runtime ${runtime} system service -t 0 unix://${socket}`,
      ].join(' && '),
    );
    await this.#daemon.answers();
  }

  docker(...words: readonly string[]): string {
    return execFileSync('docker', ['-H', this.host, ...words], { encoding: 'utf8' });
  }

  /** Brings the image of this working copy over, by the name that a session asks for. */
  async bringImage(): Promise<string> {
    const first = await connectForTest();
    const tag = await testImage(first);
    await first.close();
    execFileSync('sh', ['-c', 'docker save "$1" | docker -H "$2" load -q', 'sh', tag, this.host], { stdio: 'ignore' });
    return tag;
  }

  private async stop(): Promise<void> {
    if (this.#daemon === undefined) return;
    for (const id of this.docker('ps', '-aq').split('\n').filter(Boolean)) this.docker('rm', '-f', id);
    await this.#daemon[Symbol.asyncDispose]();
    this.#daemon = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.storage, { recursive: true, force: true });
  }
}

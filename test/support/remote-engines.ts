import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { Link } from './link.ts';
import { SecondEngine, type SecondEngineOptions } from './second-engine.ts';
import { openSshFront, type SshFront } from './ssh-front.ts';

/** An engine of the test's own behind its own login. */
export interface RemoteEngine {
  readonly name: string;
  readonly engine: SecondEngine;
  readonly front: SshFront;
  readonly link: Link;
  /** Its address in the user's configuration. */
  readonly host: string;
}

/** Engines on other machines, as far as a client can tell. Linux, root. */
export class RemoteEngines implements AsyncDisposable {
  readonly #dir = mkdtempSync(path.join(tmpdir(), 'run-claude-remotes-'));
  readonly #engines = new Map<string, RemoteEngine>();

  /** Starts one engine for each name. */
  async open(wanted: Readonly<Record<string, SecondEngineOptions>>): Promise<void> {
    for (const [name, options] of Object.entries(wanted)) {
      const engine = new SecondEngine(options);
      await engine.start();
      await engine.bringImage();
      const front = await openSshFront(path.join(this.#dir, name), { variables: { DOCKER_HOST: engine.host } });
      const link = await new Link(front.port).open();
      const host = `ssh://${userInfo().username}@127.0.0.1:${link.port}`;
      this.#engines.set(name, { name, engine, front, link, host });
    }
    this.#writeClient();
  }

  named(name: string): RemoteEngine {
    const found = this.#engines.get(name);
    if (found === undefined) throw new Error(`no engine ${name}`);
    return found;
  }

  /** The tables of config.toml. */
  get config(): string {
    return [...this.#engines.values()].map(({ name, host }) => `[engine.${name}]\nhost = "${host}"\n`).join('\n');
  }

  /** With an `ssh` first in it that knows the engines. */
  get path(): string {
    return `${path.join(this.#dir, 'bin')}:${process.env['PATH']}`;
  }

  /** One configuration for all logins, which replaces the user's. */
  #writeClient(): void {
    const file = (name: string): string => path.join(this.#dir, name);
    const all = [...this.#engines.values()];
    writeFileSync(file('known'), all.map(({ front, link }) => `[127.0.0.1]:${link.port} ${front.hostKey}\n`).join(''));
    const lines = [
      ...all.map(({ front }) => `IdentityFile ${front.identity}`),
      'IdentitiesOnly yes',
      `UserKnownHostsFile ${file('known')}`,
      'GlobalKnownHostsFile /dev/null',
      'StrictHostKeyChecking yes',
    ];
    writeFileSync(file('config'), `${lines.join('\n')}\n`);
    mkdirSync(file('bin'));
    writeFileSync(file('bin/ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${file('config')}' "$@"\n`);
    chmodSync(file('bin/ssh'), 0o755);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { engine, front, link } of this.#engines.values()) {
      await link[Symbol.asyncDispose]();
      await front.close();
      await engine[Symbol.asyncDispose]();
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

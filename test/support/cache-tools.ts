import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { CacheName } from '../../src/core/types/setup/cache.ts';
import { ecosystemOf } from '../../src/environment/caches/ecosystems.ts';
import { checkArchives } from '../../src/environment/caches/fill/check-archives.ts';
import { fillCache } from '../../src/environment/caches/inside/fill-cache.ts';
import { insideDir } from '../../src/environment/caches/place.ts';
import { connectForTest } from './engine.ts';
import { runLabel, testImage } from './image.ts';
import { openRegistry, type Registry } from './registry.ts';

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8', maxBuffer: 1 << 26 });

/** Makes the links of /links.json in the home. */
const LINK = `const fs = require("fs"), path = require("path");
for (const [to, at] of JSON.parse(fs.readFileSync("/links.json"))) {
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.symlinkSync(to, at);
}`;

export interface InsideOptions {
  /** Without the cache, its links and its variables. */
  readonly bare?: boolean;
  /** Names of the container's loopback. */
  readonly hosts?: readonly string[];
}

/** Tools of Debian over our image, and caches that are filled from a registry of the test's own. */
export class CacheTools implements AsyncDisposable {
  readonly dir: string = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-tools-')));
  readonly registry: Registry;
  private readonly image: string = `run-claude-tools:${path.basename(this.dir).toLowerCase()}`;

  private constructor(registry: Registry) {
    this.registry = registry;
  }

  /** `script` runs in a container with the packages: what it puts below /out, as HOST/PATH, is what the registry has. */
  static async open(packages: string, script: string): Promise<CacheTools> {
    const tools = new CacheTools(await openRegistry());
    const engine = await connectForTest();
    const image = await testImage(engine);
    await engine.close();
    const dockerfile = `FROM ${image}
USER root
RUN apt-get update && mkdir -p /usr/share/man/man1 \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages} \\
 && rm -rf /var/lib/apt/lists/*
`;
    mkdirSync(path.join(tools.dir, 'context'));
    writeFileSync(path.join(tools.dir, 'context', 'Dockerfile'), dockerfile);
    docker('build', '-q', '--label', runLabel(), '-t', tools.image, path.join(tools.dir, 'context'));
    const out = path.join(tools.dir, 'out');
    mkdirSync(out, { mode: 0o777 });
    const mounts = ['-v', `${out}:/out`, '-v', `${script}:/packages.sh:ro`];
    docker('run', '--rm', '--network', 'none', '-u', '0', ...mounts, tools.image, 'sh', '/packages.sh');
    for (const file of readdirSync(out, { recursive: true, withFileTypes: true })) {
      const at = path.join(file.parentPath, file.name);
      if (file.isFile()) tools.registry.files.set(at.slice(out.length), readFileSync(at));
    }
    return tools;
  }

  served(at: string): Buffer {
    const content = this.registry.files.get(at);
    if (content === undefined) throw new Error(`the registry has no ${at}`);
    return content;
  }

  /** Fills the cache of a lock file. The registry has every host below its name. Returns the paths of the archives. */
  async fill(name: CacheName, lock: string, file?: string): Promise<readonly string[]> {
    const ecosystem = ecosystemOf(name);
    const cache = path.join(this.dir, name);
    mkdirSync(cache);
    const content = ecosystem.read(lock, file ?? ecosystem.lockFiles[0] ?? '');
    const { archives, skipped } = checkArchives(ecosystem, [content]);
    expect(skipped).toEqual([]);
    const moved = archives.map((archive) => ({ ...archive, url: archive.url.replace('https:/', this.registry.url) }));
    const limits = { maxArchiveBytes: 2 ** 31, reserveBytes: 0, stallMs: 60_000 };
    const request = { archives: moved, dir: cache, previous: undefined, ...limits };
    expect(await fillCache(request, () => undefined)).toMatchObject({ kind: 'filled' });
    return archives.map(({ path: at }) => at);
  }

  /**
   * Runs a script in a container with the cache, its links and its variables, and no network. What the registry has is
   * below /out. Returns its output, also where it fails.
   */
  inside(name: CacheName, paths: readonly string[], script: string, { bare, hosts = [] }: InsideOptions = {}): string {
    const ecosystem = ecosystemOf(name);
    const target = insideDir(name);
    const links =
      bare === true ? [] : paths.flatMap((file) => ecosystem.linksOf(file).map((at) => [`${target}/${file}`, at]));
    const setup = path.join(this.dir, 'links.json');
    writeFileSync(setup, JSON.stringify(links));
    const env = Object.entries(ecosystem.env(target)).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
    const words = ['run', '--rm', '--network', 'none', '-u', '1000', '-e', 'HOME=/home/agent'];
    words.push(...hosts.flatMap((host) => ['--add-host', `${host}:127.0.0.1`]));
    words.push('--tmpfs', '/home/agent:exec,uid=1000', '-v', `${setup}:/links.json:ro`);
    words.push('-v', `${path.join(this.dir, 'out')}:/out:ro`);
    if (bare !== true) words.push('-v', `${path.join(this.dir, name)}:${target}:ro`, ...env);
    return docker(...words, this.image, 'sh', '-c', `exec 2>&1; cd ~; node -e '${LINK}'; ${script}\ntrue`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.registry[Symbol.asyncDispose]();
    execFileSync('docker', ['rmi', '-f', this.image], { stdio: 'ignore' });
    rmSync(this.dir, { recursive: true, force: true });
  }
}

import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { packageRoot, type RunResult, Scene, type SceneOptions } from '../../../support/scene.ts';
import { openTcpEngine } from '../../../support/tcp-engine.ts';

// Caches that are being filled, against the real registry of npm: interrupted, on a full disk, by two users of one engine.

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

const FILL = /Filling the npm cache, once: \d+ packages/;
const ROOT = { name: 'sample', version: '1.0.0' };
/** Platforms' binaries of some 10 MB each, from this repository's own lock file. */
let packages: Readonly<Record<string, Locked>>;
let reach: string[] = [];

beforeAll(async () => {
  const own = JSON.parse(readFileSync(path.join(packageRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const large = Object.entries(own.packages).filter(([name]) =>
    name.startsWith('node_modules/@typescript/typescript-'),
  );
  packages = Object.fromEntries(
    large
      .slice(0, 4)
      .map(([name, { version, integrity }]) => [name, { version, integrity, optional: true, os: ['none'] }]),
  );
  const found = await lookup('registry.npmjs.org', { all: true });
  reach = found.flatMap(({ address, family }) => ['--allow-address', `${address}/${family === 4 ? 32 : 128}`]);
});

function sceneWith(names: readonly string[], options: SceneOptions = {}): Scene {
  const scene = new Scene(options);
  const some = Object.fromEntries(names.map((name) => [name, packages[name]]));
  scene.write('package-lock.json', JSON.stringify({ ...ROOT, lockfileVersion: 3, packages: { '': ROOT, ...some } }));
  return scene;
}

const WORDS = ['exec', '--cache', 'npm'];
const start = (scene: Scene): Promise<RunResult> =>
  scene.run([...WORDS, ...reach, '--', 'sh', '-c', 'find -L /var/cache/run-claude/npm -type f | wc -l']);

const cachesDir = (scene: Scene): string => path.join(scene.places().cacheDir, 'caches');
/** Names of files below a directory of this machine. */
const filesIn = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []))
    : [];
const running = (scene: Scene): string[] => {
  const sessions = path.join(scene.places().stateDir, 'sessions');
  return (existsSync(sessions) ? readdirSync(sessions) : []).flatMap((id) =>
    execFileSync('docker', ['ps', '-q', '--filter', `label=run-claude.session=${id}`], { encoding: 'utf8' })
      .split('\n')
      .filter((one) => one !== ''),
  );
};

it.each([
  ['Ctrl-C', 'SIGINT', 'directory'],
  ['SIGKILL', 'SIGKILL', 'directory'],
  ['SIGKILL, in a volume', 'SIGKILL', 'volume'],
] as const)(
  '%s while a cache is filled: nothing of it is used, and the next start fills it',
  async (_, signal, kind) => {
    await using engine = await openTcpEngine();
    const names = Object.keys(packages);
    await using scene = sceneWith(names, kind === 'volume' ? { env: { DOCKER_HOST: engine.host } } : {});
    const child = scene.spawn([...WORDS, ...reach, '--', 'true']);
    const ended = once(child, 'close');
    const isFetching = (): boolean =>
      kind === 'directory'
        ? filesIn(cachesDir(scene)).some((name) => name.startsWith('.fetch-'))
        : running(scene).length > 1;
    await expect.poll(isFetching, { interval: 20 }).toBe(true);
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    expect(filesIn(cachesDir(scene)).filter((name) => name === 'filled.json')).toEqual([]);
    if (signal === 'SIGINT') {
      expect(code).toBe(130);
      expect([readdirSync(cachesDir(scene)), running(scene)]).toEqual([[], []]);
    }
    const { stdout, stderr, status } = await start(scene);
    expect([stdout, status], stderr).toEqual([`${names.length}\n`, 0]);
    expect(stderr).toMatch(FILL);
    expect(filesIn(cachesDir(scene)).filter((name) => name.startsWith('.fetch-'))).toEqual([]);
    await scene.run(['gc', '--yes']);
    expect(running(scene)).toEqual([]);
    await scene.run(['cache', 'rm', '--all']);
  },
);

it('a disk that gets full while a cache is filled: nothing is kept, and the session starts without it', async () => {
  await using scene = sceneWith(Object.keys(packages));
  const dir = cachesDir(scene);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // 1 GB is left free on every disk: here are 8 MB more.
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1032m,mode=0700', 'tmpfs', dir]);
  try {
    const { stdout, stderr, status } = await start(scene);
    expect([stdout, status], stderr).toEqual(['0\n', 0]);
    expect(stderr).toMatch(
      /WARNING: the npm cache was not filled: @typescript\/\S+ [\d.]+: the disk is full\. Nothing of it is kept/,
    );
    expect(readdirSync(dir)).toEqual([]);
  } finally {
    execFileSync('umount', ['-l', dir]);
  }
});

it('two users of one engine have volumes of their own; two projects of one user share a cache', async () => {
  await using engine = await openTcpEngine();
  const env = { DOCKER_HOST: engine.host };
  const names = Object.keys(packages).slice(0, 1);
  await using first = sceneWith(names, { env });
  await using second = sceneWith(names, { env });
  const volumes = (): string[] =>
    execFileSync('docker', ['volume', 'ls', '-q', '--filter', 'name=run-claude-cache-'], { encoding: 'utf8' })
      .split('\n')
      .filter((name) =>
        [first, second].some((one) => name !== '' && readdirSync(cachesDir(one)).includes(name.slice(-32))),
      );
  try {
    for (const scene of [first, second]) {
      const { stdout, stderr } = await start(scene);
      expect([stdout, FILL.test(stderr.replace('1 package ', '1 packages '))], stderr).toEqual(['1\n', true]);
    }
    expect(volumes()).toHaveLength(2);
    await first.run(['cache', 'rm', '--all']);
    expect(volumes()).toHaveLength(1);
    const other = path.join(second.root, 'other');
    execFileSync('cp', ['-r', second.project, other]);
    const shared = await second.run([
      ...WORDS,
      '--network',
      'none',
      other,
      '--',
      'sh',
      '-c',
      'ls -R /var/cache/run-claude/npm | grep -c sha512:',
    ]);
    expect([shared.stdout, shared.stderr.includes('Filling')], shared.stderr).toEqual(['1\n', false]);
  } finally {
    for (const scene of [first, second]) await scene.run(['cache', 'rm', '--all']);
  }
});

import { execFileSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type RunResult, Scene } from '../../../support/scene.ts';

// Against the real registry of npm, as the image's own build is.
const PACKAGE = '{"name":"sample","version":"1.0.0","dependencies":{"is-odd":"3.0.1"}}\n';
/** Of other projects and users: nothing of it is in a scene. */
let lock = '';
/** Some networks resolve the registry to an address of a special range. */
let reach: string[] = [];

beforeAll(async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-lock-'));
  try {
    writeFileSync(path.join(dir, 'package.json'), PACKAGE);
    const words = [
      'install',
      '--package-lock-only',
      '--omit-lockfile-registry-resolved=false',
      '--no-audit',
      '--no-fund',
    ];
    execFileSync('npm', words, { cwd: dir, stdio: 'ignore' });
    lock = readFileSync(path.join(dir, 'package-lock.json'), 'utf8');
  } finally {
    rmSync(dir, { recursive: true });
  }
  const hosts = ['registry.npmjs.org', 'registry.yarnpkg.com'];
  const found = (await Promise.all(hosts.map((host) => lookup(host, { all: true })))).flat();
  reach = found.flatMap(({ address, family }) => ['--allow-address', `${address}/${family === 4 ? 32 : 128}`]);
});

function sceneWith(text: string = lock): Scene {
  const scene = new Scene();
  scene.write('package.json', PACKAGE);
  scene.write('package-lock.json', text);
  scene.write('.gitignore', 'node_modules\n');
  return scene;
}

const inside = (scene: Scene, script: string): Promise<RunResult> =>
  scene.run(['exec', '--cache', 'npm', ...reach, '--', 'bash', '-c', script]);

/** Once the cache is filled. */
const offline = (scene: Scene, script: string): Promise<RunResult> =>
  scene.run(['exec', '--cache', 'npm', '--network', 'none', '--', 'bash', '-c', script]);

const cachesOf = (scene: Scene): string[] => {
  const dir = path.join(scene.places().cacheDir, 'caches');
  return existsSync(dir) ? readdirSync(dir).filter((name) => existsSync(path.join(dir, name, 'filled.json'))) : [];
};

const INSTALL = 'npm ci --offline --no-audit --no-fund >/dev/null && node -p "require(\'is-odd\')(3)"';

it('npm installs from the cache without a registry; the cache is filled once, listed and removed', async () => {
  await using scene = sceneWith();
  const first = await inside(scene, INSTALL);
  expect([first.stdout, first.status], first.stderr).toEqual(['true\n', 0]);
  expect(first.stderr).toContain('Filling the npm cache, once: 2 packages of package-lock.json');
  const second = await offline(scene, INSTALL);
  expect([second.stdout, second.stderr.includes('Filling')], second.stderr).toEqual(['true\n', false]);
  const listed = await scene.run(['cache', '--json']);
  const rows = JSON.parse(listed.stdout) as { cache: string; project: string; packages: number; usedBy: string[] }[];
  expect(rows).toMatchObject([
    { ecosystem: 'npm', project: scene.project, packages: 2, lockFiles: ['package-lock.json'] },
  ]);
  expect(rows[0]?.usedBy).toHaveLength(2);
  expect((await scene.run(['cache'])).stdout).toMatch(/^[0-9a-f]{12} {2}npm +\/.*\n +2 packages, .*by 2/m);
  expect((await scene.run(['cache', 'rm', rows[0]?.cache ?? ''])).stdout).toBe(`removed ${rows[0]?.cache}\n`);
  expect(cachesOf(scene)).toEqual([]);
  expect(readdirSync(path.join(scene.places().cacheDir, 'caches'))).toEqual([]);
});

it('what an agent writes is in no other session, and changes no archive', async () => {
  await using scene = sceneWith();
  const attack = [
    'cd ~/.npm/_cacache/content-v2/sha512',
    'for file in $(find . -type l); do echo poison >> $file; chmod 666 $file; rm -f /var/cache/run-claude/npm/sha512/$file; ln -sf /workspace/evil $file; done',
    'touch /var/cache/run-claude/npm/new; mv /var/cache/run-claude/npm /var/cache/run-claude/old; rm -rf /var/cache/run-claude/npm/*',
    'echo evil > /workspace/evil; readlink $(find . -type l | head -1)',
  ].join('\n');
  const first = await inside(scene, `{ ${attack}\n} 2>/dev/null`);
  expect(first.stdout, 'the attack changes what is its own').toBe('/workspace/evil\n');
  const second = await offline(scene, `${INSTALL}; ls /var/cache/run-claude/npm`);
  expect(second.stdout, second.stderr).toBe('true\nsha512\n');
});

it('a lock file that a session changed fills nothing: the one of the machine counts', async () => {
  await using scene = sceneWith();
  const changed = lock.replaceAll('is-number', 'left-pad');
  await inside(scene, `cat > package-lock.json <<'END'\n${changed}END\nsleep 0`);
  const [only] = cachesOf(scene);
  const second = await inside(scene, 'find ~/.npm/_cacache -type l | wc -l');
  expect([second.stdout, second.stderr.includes('Filling')]).toEqual(['2\n', false]);
  expect(cachesOf(scene)).toEqual([only]);
});

it('other bytes than the hash names are kept nowhere, and the session starts without the cache', async () => {
  const integrity = /"integrity": "(sha512-[^"]+)"/.exec(lock)?.[1] ?? '';
  await using scene = sceneWith(lock.replace(integrity, `sha512-${Buffer.alloc(64, 7).toString('base64')}`));
  const { status, stdout, stderr } = await inside(
    scene,
    'ls -A ~/.npm/_cacache 2>/dev/null; ls /var/cache/run-claude; echo started',
  );
  expect([status, stdout]).toEqual([0, 'started\n']);
  expect(stderr).toMatch(
    /WARNING: the npm cache was not filled: is-\w+ [\d.]+: the registry sent other bytes than the lock file names\. Nothing of it is kept, and the session starts without this cache\./,
  );
  expect(cachesOf(scene)).toEqual([]);
});

it('links, repositories, other hosts and names that leave the cache are left out; no script of a package or of the project runs', async () => {
  const root = JSON.parse(lock) as { packages: Record<string, object> };
  const integrity = `sha512-${Buffer.alloc(64, 7).toString('base64')}`;
  for (const [name, resolved] of [
    ['git', 'git+ssh://git@github.com/a/git.git#0123456789012345678901234567890123456789'],
    ['file', 'file:../../../../etc/passwd'],
    ['other', 'https://registry.example/other/-/other-1.0.0.tgz'],
    ['../../../../evil', 'https://registry.npmjs.org/evil/-/evil-1.0.0.tgz'],
  ])
    root.packages[`node_modules/${name}`] = { version: '1.0.0', resolved, integrity, hasInstallScript: true };
  await using scene = sceneWith(JSON.stringify(root));
  scene.write('package.json', PACKAGE.replace('{', '{"scripts":{"preinstall":"touch /workspace/ran"},'));
  scene.write('.npmrc', 'registry=https://registry.example/\nscript-shell=/workspace/evil\n');
  const { stdout, stderr } = await inside(scene, 'find ~/.npm/_cacache -type l | wc -l; ls /workspace/ran 2>/dev/null');
  expect(stdout, stderr).toBe('2\n');
  expect(stderr).toMatch(/packages are not in the cache: not from a registry \(git 1\.0\.0, file 1\.0\.0\)/);
  expect(stderr).toMatch(/1 package is not in the cache: from another host \(other 1\.0\.0\)/);
  expect(existsSync(path.join(scene.project, 'ran'))).toBe(false);
});

it("a project's file cannot ask for a cache, and an unknown one is refused", async () => {
  await using scene = sceneWith();
  scene.write('.run-claude.toml', 'cache = ["npm"]\n');
  const { stderr } = await scene.run(['exec', '--', 'true']);
  expect(stderr).toContain('cache = ["npm"] cannot be set by a project; ignored');
  expect(cachesOf(scene)).toEqual([]);
  const unknown = await scene.run(['exec', '--cache', 'nmp', '--', 'true']);
  expect([unknown.status, unknown.stderr.includes("there is no cache 'nmp'")]).toEqual([2, true]);
  const uv = await scene.run(['exec', '--cache', 'uv', '--', 'true']);
  expect([uv.status, uv.stderr.includes('uv has no cache')]).toEqual([2, true]);
});

it('two sessions that start at once fill it once', async () => {
  await using scene = sceneWith();
  const both = await Promise.all([inside(scene, INSTALL), inside(scene, INSTALL)]);
  expect(both.map(({ stdout }) => stdout)).toEqual(['true\n', 'true\n']);
  expect(both.filter(({ stderr }) => stderr.includes('Filling the npm cache'))).toHaveLength(1);
  expect(cachesOf(scene)).toHaveLength(1);
});

it('yarn 1 installs from the cache without a registry, and leaves its lock file as it is', async () => {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version: string; integrity: string }> };
  const entry = (asked: string, name: string, more = ''): string => {
    const { version = '', integrity = '' } = packages[`node_modules/${name}`] ?? {};
    const resolved = `https://registry.yarnpkg.com/${name}/-/${name}-${version}.tgz`;
    return `${asked}:\n  version "${version}"\n  resolved "${resolved}"\n  integrity ${integrity}\n${more}`;
  };
  const entries = [
    entry('is-number@^6.0.0', 'is-number'),
    entry('is-odd@3.0.1', 'is-odd', '  dependencies:\n    is-number "^6.0.0"\n'),
  ];
  await using scene = sceneWith();
  scene.write(
    'yarn.lock',
    `# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.\n# yarn lockfile v1\n\n\n${entries.join('\n')}`,
  );
  const script = `exec 2>&1; npm install --global yarn@1.22.22 >/dev/null
HTTPS_PROXY= https_proxy= yarn install --offline --frozen-lockfile --no-progress && node -p "require('is-odd')(3)"; git status --short`;
  const { stdout, stderr } = await scene.run(['exec', '--cache', 'yarn', ...reach, '--', 'bash', '-c', script]);
  expect(stderr).toContain('Filling the yarn cache, once: 2 packages of yarn.lock');
  expect(stdout, stderr).toMatch(/^true$/m);
  expect(stdout).not.toMatch(/^ M yarn\.lock$/m);
});

it('pnpm 9 to 12 install from the cache without a registry, and leave the lock file as it is', async () => {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { version: string; integrity: string }> };
  const entries = ['is-number', 'is-odd'].map((name) => {
    const { version = '', integrity = '' } = packages[`node_modules/${name}`] ?? {};
    const snapshot = `  ${name}@${version}:${name === 'is-odd' ? '\n    dependencies:\n      is-number: 6.0.0' : ' {}'}`;
    return [`  ${name}@${version}:\n    resolution: {integrity: ${integrity}}\n`, snapshot] as const;
  });
  await using scene = sceneWith();
  const own =
    'importers:\n\n  .:\n    dependencies:\n      is-odd:\n        specifier: 3.0.1\n        version: 3.0.1\n';
  const settings = 'settings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n';
  const [listed, snapshots] = [entries.map(([one]) => one), entries.map(([, one]) => one)].map((all) => all.join('\n'));
  const text = `lockfileVersion: '9.0'\n\n${settings}\n${own}\npackages:\n\n${listed}\nsnapshots:\n\n${snapshots}\n`;
  scene.write('pnpm-lock.yaml', text);
  // Without it, pnpm 11 and later ask the registry how old each package is.
  const script = `exec 2>&1; export PNPM_CONFIG_MINIMUM_RELEASE_AGE=0
for release in 9 10.0.0 10 11 12; do
  npm install --silent --no-audit --no-fund --prefix ~/pnpm-$release pnpm@$release
  pnpm() { ~/pnpm-$release/node_modules/.bin/pnpm install --offline --frozen-lockfile; }
  case $release in 9 | 10*) mv ~/.config/pnpm/rc ~/rc; pnpm; mv ~/rc ~/.config/pnpm/rc ;; *) (unset PNPM_CONFIG_GLOBAL_PNPMFILE; pnpm) ;; esac >/dev/null
  [ -e node_modules/is-odd ] && echo "pnpm $release installs without the cache"
  rm -rf node_modules; pnpm; echo "pnpm $release: $(node -p "require('is-odd')(3)")"; rm -rf node_modules ~/.local/share/pnpm
done
git status --short`;
  const { stdout, stderr } = await scene.run(['exec', '--cache', 'pnpm', ...reach, '--', 'bash', '-c', script]);
  expect(stderr).toContain('Filling the pnpm cache, once: 2 packages of pnpm-lock.yaml');
  expect(stdout.match(/^pnpm \d.*/gm), stdout).toEqual([
    'pnpm 9: true',
    'pnpm 10.0.0: true',
    'pnpm 10: true',
    'pnpm 11: true',
    'pnpm 12: true',
  ]);
  expect(stdout).not.toMatch(/^ M pnpm-lock\.yaml$/m);
});

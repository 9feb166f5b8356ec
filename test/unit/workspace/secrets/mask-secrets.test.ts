import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, test } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import { EVERYTHING, selectPaths } from '../../../../src/core/text/selection.ts';
import { readableSelection } from '../../../../src/workspace/base/prescan-project.ts';
import { rowAt, type Snapshot } from '../../../../src/workspace/scan/snapshot.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';
import { type FoundSecrets, findSecrets } from '../../../../src/workspace/secrets/find-secrets.ts';
import { type MaskedTree, maskSecrets } from '../../../../src/workspace/secrets/mask-secrets.ts';

/** Put together here, so that no file of the repository holds a token. */
const TOKEN = `ghp_${'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6Jd1Gf0SaEuTi'}`;

const SECRET = 'correct-horse-battery-9';

interface Scene {
  readonly root: string;
  readonly base: string;
  put(name: string, text: string): void;
  git(...words: string[]): void;
  scan(options?: ScanOptions): Promise<MaskedTree>;
}

interface ScanOptions {
  readonly unmask?: readonly string[];
  readonly mask?: readonly string[];
  readonly known?: { readonly snapshot: Snapshot; readonly found: FoundSecrets | undefined };
}

function scene(): Scene {
  const top = mkdtempSync(path.join(tmpdir(), 'run-claude-secrets-'));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const [root, base] = [path.join(top, 'project'), path.join(top, 'base')];
  mkdirSync(root);
  const git = (...words: string[]): void => void execFileSync('git', words, { cwd: root });
  git('init', '-q');
  return {
    root,
    base,
    git,
    put(name, text) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    },
    async scan({ unmask = [], mask = [], known } = {}) {
      const selection = mask.length === 0 ? EVERYTHING : selectPaths({ exclude: [], include: [], mask });
      const walked = await walkTree({ root, selection, known: known?.snapshot });
      return maskSecrets(walked, { project: root, dir: base, unmask }, known);
    },
  };
}

const kindAt = ({ snapshot }: MaskedTree, file: string): string | undefined => rowAt(snapshot, file)?.kind;
const rewritten = (tree: MaskedTree, file: string): string =>
  tree.rewrite(file, readFileSync(tree.sourceOf(file))).bytes.toString();
const knownOf = (tree: MaskedTree) => ({ snapshot: tree.snapshot, found: tree.secrets.found });

test('ignored and untracked secrets are masked, and tracked ones are named', async () => {
  const { put, git, scan } = scene();
  put('.gitignore', '.env\nbuild/\n');
  put('.env', 'PORT=3000\nDB_PASSWORD=hunter2\n');
  put('build/config.js', `token("${TOKEN}")`);
  put('secrets/db', 'hunter2\n');
  put('notes.txt', `${TOKEN}\n`);
  put('prod.tfvars', 'password = "hunter2"\n');
  put('plain.txt', 'hello\n');
  put('app.env', 'PORT=3000\n');
  git('add', '.gitignore', 'prod.tfvars');
  const tree = await scan();
  expect(tree.secrets.files).toEqual([
    { path: '.env', reason: 'environment file', state: 'masked', isInGit: false },
    { path: 'build/config.js', reason: 'a token or key in it', state: 'masked', isInGit: false },
    { path: 'notes.txt', reason: 'a token or key in it', state: 'by-content' },
    { path: 'prod.tfvars', reason: 'Terraform variables', state: 'tracked', isInGit: true },
    { path: 'secrets/db', reason: 'secrets folder', state: 'masked', isInGit: false },
  ]);
  expect(
    ['.env', 'build/config.js', 'secrets/db', 'notes.txt', 'prod.tfvars', 'app.env'].map((one) => kindAt(tree, one)),
  ).toEqual(['g', 'g', 'g', 'f', 'f', 'f']);
  expect(rewritten(tree, '.env')).toMatch(/^PORT=3000\nDB_PASSWORD=[a-z]{6}\d\n$/);
  expect(rewritten(tree, '.env')).not.toContain('hunter2');
  expect(tree.secrets.decoys.get('.env')).toEqual([
    { path: '.env', name: 'DB_PASSWORD', value: expect.stringMatching(/^[a-z]{6}\d$/) },
  ]);
});

test('--unmask shows a file, and --mask empties it', async () => {
  const { put, scan } = scene();
  put('.env', 'DB_PASSWORD=hunter2\n');
  put('.env.test', 'DB_PASSWORD=hunter3\n');
  const tree = await scan({ unmask: ['.env.test'] });
  expect(tree.secrets.files.map(({ path: one, state }) => [one, state])).toEqual([
    ['.env', 'masked'],
    ['.env.test', 'unmasked'],
  ]);
  expect([kindAt(tree, '.env'), kindAt(tree, '.env.test')]).toEqual(['g', 'f']);
  const masked = await scan({ mask: ['.env'], known: knownOf(tree) });
  expect(kindAt(masked, '.env')).toBe('m');
  // What was empty before was not read: it is read now.
  expect(kindAt(await scan({ known: knownOf(masked) }), '.env')).toBe('g');
});

test('a file that git ceased to track is masked by the next scan', async () => {
  const { put, git, scan } = scene();
  put('.env', 'DB_PASSWORD=hunter2\n');
  git('add', '.env');
  const before = await scan();
  expect(kindAt(before, '.env')).toBe('f');
  git('rm', '-q', '--cached', '.env');
  expect(kindAt(await scan({ known: knownOf(before) }), '.env')).toBe('g');
});

test('an index that cannot be read tracks nothing', async () => {
  const { put, git, scan } = scene();
  put('.env', 'DB_PASSWORD=hunter2\n');
  git('add', '.env');
  put('.git/index', 'damaged');
  expect(kindAt(await scan(), '.env')).toBe('g');
});

test('an unchanged project is not read again, and a changed file is', async () => {
  const { root, put, scan } = scene();
  put('.gitignore', '.env\nlogs/\n');
  put('.env', 'DB_PASSWORD=hunter2\n');
  put('logs/out.txt', 'nothing\n');
  const first = await scan();
  const again = await walkTree({ root, selection: EVERYTHING, known: first.snapshot });
  const isRead = (): never => {
    throw new Error('a file was read');
  };
  const found = findSecrets(
    { ...again, sourceOf: isRead },
    { known: knownOf(first), isTracked: () => false, isIgnored: () => false },
  );
  expect(found).toEqual(first.secrets.found);
  // The same tree and the same rows: nothing is copied again.
  expect([...(await scan({ known: knownOf(first) })).snapshot]).toEqual([...first.snapshot]);
  put('logs/out.txt', `${TOKEN}\n`);
  expect(kindAt(await scan({ known: knownOf(first) }), 'logs/out.txt')).toBe('g');
});

test('with other ignore rules, files that were not searched are', async () => {
  const { put, git, scan } = scene();
  put('notes.txt', `${TOKEN}\n`);
  git('add', 'notes.txt');
  const before = await scan();
  expect(before.secrets.files).toEqual([]);
  git('rm', '-q', '--cached', 'notes.txt');
  put('.gitignore', 'notes.txt\n');
  expect(kindAt(await scan({ known: knownOf(before) }), 'notes.txt')).toBe('g');
});

test('git inside ignores a masked file that only its name makes private', async () => {
  const { put, scan } = scene();
  put('.gitignore', 'certs/\n');
  put('.env', 'DB_PASSWORD=hunter2\n');
  put('a [b]/.env', 'DB_PASSWORD=hunter2\n');
  put('certs/dev.key', '9f3a7c1e5b8d2f604a6e9c3b7d15f08e\n');
  const tree = await scan();
  const lines = rewritten(tree, '.git/info/exclude').trimEnd().split('\n');
  expect(lines.slice(-2)).toEqual(['/.env', String.raw`/a\ \[b\]/.env`]);
});

it('keeps the key of the decoys private, and the decoys the same', async () => {
  const { base, put, scan } = scene();
  put('.env', 'DB_PASSWORD=hunter2\n');
  const first = rewritten(await scan(), '.env');
  expect(rewritten(await scan(), '.env')).toBe(first);
  expect(statSync(path.join(base, 'decoy-key')).mode & 0o777).toBe(0o600);
  rmSync(path.join(base, 'decoy-key'));
  expect(rewritten(await scan(), '.env')).not.toBe(first);
});

it('writes nothing for a project without secrets', async () => {
  const { base, put, scan } = scene();
  put('a.txt', 'x');
  expect((await scan()).secrets.files).toEqual([]);
  expect(existsSync(base)).toBe(false);
});

test('a secret file that cannot be read, or is too large, is never taken for harmless', async () => {
  const { root, put, scan } = scene();
  put('.env', 'PORT=1\n');
  put('big.tfstate', `${' '.repeat((8 << 20) + 1)}x`);
  const walked = await walkTree({ root, selection: EVERYTHING });
  // Written to since the walk.
  put('.env', 'DB_PASSWORD=hunter2\n');
  chmodSync(path.join(root, '.env'), 0o640);
  utimesSync(path.join(root, '.env'), 1, 1);
  const found = findSecrets(walked, { known: undefined, isTracked: () => false, isIgnored: () => false });
  expect(found.files.map(({ path: one }) => one)).toEqual(['.env', 'big.tfstate']);
  expect(rewritten(await scan(), 'big.tfstate')).toBe('');
});

test.each([false, true])('stashes stay outside, packed: %s', async (isPacked) => {
  const { put, git, scan } = scene();
  put('a.txt', 'one\n');
  git('add', '.');
  git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'one');
  put('a.txt', 'two\n');
  git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'stash', '-q');
  if (isPacked) git('pack-refs', '--all');
  const tree = await scan();
  expect([kindAt(tree, '.git/refs/stash'), kindAt(tree, '.git/logs/refs/stash')]).toEqual([undefined, undefined]);
  if (isPacked) expect(rewritten(tree, '.git/packed-refs')).toMatch(/^[^\n]*\n[0-9a-f]{40} refs\/heads\/\w+\n$/);
});

test('a setup reads no copy of a masked file, and none with one of its secrets', () => {
  const { root, put, git } = scene();
  put('.gitignore', '*.txt\nconfig/\n');
  put('app/.env', `DB_PASSWORD=${SECRET}\n`);
  put('setup.in', `DB_PASSWORD=${SECRET}\n`);
  put('log.txt', `with ${SECRET}\n`);
  put('config/database.yml', 'password: hunter2\n');
  put('new.sh', `echo ${SECRET}\n`);
  put('tracked.sh', `echo ${SECRET}\n`);
  put('plain.txt', 'hello\n');
  git('add', 'tracked.sh');
  const names = ['setup.in', 'log.txt', 'config/database.yml', 'new.sh', 'tracked.sh', 'plain.txt', 'not-there'];
  const masked = (unmask: readonly string[]) => names.filter(readableSelection({ ...DEFAULTS, unmask }, root).masked);
  expect(masked([])).toEqual(['setup.in', 'log.txt', 'config/database.yml']);
  expect(masked(['app/.env'])).toEqual(['config/database.yml']);
});

test('a setup reads no file that is masked', () => {
  const { root, put, git } = scene();
  put('.npmrc', '//registry.npmjs.org/:_authToken=hunter2\n');
  put('app.env', 'PORT=1\n');
  put('secrets/db', 'hunter2\n');
  put('prod.tfvars', 'password = "hunter2"\n');
  git('add', 'prod.tfvars');
  const policy = { ...DEFAULTS, unmask: ['secrets/'] };
  const { masked } = readableSelection(policy, root);
  expect(['.npmrc', 'app.env', 'secrets/db', 'prod.tfvars', 'not-there'].filter(masked)).toEqual(['.npmrc']);
});

test('a masked secret is found in other ignored files, and has the same decoy there', async () => {
  const { put, git, scan } = scene();
  put('.gitignore', '.env\nlogs/\n*.b64\n');
  put('.env', `DB_PASSWORD=${SECRET}\nVITE_KEY=${SECRET}-public\n`);
  put('logs/start.log', `password is ${SECRET}, port is 3000\n`);
  put('env.b64', Buffer.from(`DB_PASSWORD=${SECRET}`).toString('base64'));
  put('config.json', `{"pw":"${SECRET}"}\n`);
  put('settings.txt', `${SECRET}\n`);
  git('add', 'settings.txt');
  const tree = await scan();
  const reason = 'a secret of .env in it';
  expect(tree.secrets.files).toEqual([
    { path: '.env', reason: 'environment file', state: 'masked', isInGit: false },
    { path: 'config.json', reason, state: 'by-content' },
    { path: 'env.b64', reason, state: 'masked', isInGit: false },
    { path: 'logs/start.log', reason, state: 'masked', isInGit: false },
  ]);
  const decoy = rewritten(tree, '.env').split(/[=\n]/)[1];
  expect(rewritten(tree, 'logs/start.log')).toBe(`password is ${decoy}, port is 3000\n`);
  // What cannot be replaced leaves nothing.
  expect(rewritten(tree, 'env.b64')).toBe('');
});

test('a copy of a masked file and a hard link to it are masked, whatever their names are', async () => {
  const { root, put, scan } = scene();
  put('.gitignore', '.env\n');
  put('.env', `# was ${SECRET}\nDB_PASSWORD=${SECRET}\n`);
  put('backup/env.txt', `# was ${SECRET}\nDB_PASSWORD=${SECRET}\n`);
  linkSync(path.join(root, '.env'), path.join(root, 'picture.png'));
  const tree = await scan();
  const states = tree.secrets.files.map(({ path: one, reason, state }) => [one, reason, state]);
  expect(states).toEqual([
    ['.env', 'environment file', 'masked'],
    ['backup/env.txt', 'the same as .env', 'masked'],
    ['picture.png', 'the same as .env', 'masked'],
  ]);
  for (const one of ['.env', 'backup/env.txt', 'picture.png']) expect(rewritten(tree, one)).not.toContain(SECRET);
  expect(rewritten(tree, 'backup/env.txt')).toBe(rewritten(tree, '.env'));
  const shown = await scan({ unmask: ['.env'] });
  expect(shown.secrets.files.map(({ state }) => state)).toEqual(['unmasked', 'unmasked', 'unmasked']);
});

test('another secret is looked for in old files too, and an old one where a new file has it', async () => {
  const { put, scan } = scene();
  put('.gitignore', '.env\n*.log\n');
  put('.env', 'PORT=3000\n');
  put('old.log', `with ${SECRET}\n`);
  const first = await scan();
  expect(first.secrets.files).toEqual([]);
  put('.env', `DB_PASSWORD=${SECRET}\n`);
  const second = await scan({ known: knownOf(first) });
  expect(second.secrets.files.map(({ path: one }) => one)).toEqual(['.env', 'old.log']);
  put('new.log', `with ${SECRET}\n`);
  const third = await scan({ known: knownOf(second) });
  expect(third.secrets.files.map(({ path: one }) => one)).toEqual(['.env', 'new.log', 'old.log']);
});

test('what the limits of one scan leave out is counted, and the next scan searches it', async () => {
  const { put, scan } = scene();
  put('.gitignore', '*.log\n');
  for (let number = 0; number < 502; number += 1) put(`${String(number).padStart(3, '0')}.log`, 'text\n');
  put('999.log', `${TOKEN}\n`);
  const first = await scan();
  expect(first.secrets.files).toEqual([]);
  expect(first.secrets.found.unsearched).toHaveLength(4);
  const second = await scan({ known: knownOf(first) });
  expect(second.secrets.files.map(({ path: one, state }) => [one, state])).toEqual([['999.log', 'masked']]);
  expect(second.secrets.found.unsearched).toBeUndefined();
});

test.each(['loose', 'packed'])(
  'content in objects of git (%s) is named, and a tracked file that they lack',
  async (how) => {
    const { put, git, scan } = scene();
    const commit = (): void => git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'x');
    const value = (number: number): string => `PASSWORD=hunter-${number}\n`;
    for (const [number, name] of ['was.env', 'now.env', 'crlf.env'].entries()) put(name, value(number));
    git('add', '.');
    commit();
    git('rm', '-q', '--cached', 'was.env');
    commit();
    if (how === 'packed') git('gc', '-q', '--prune=now');
    put('crlf.env', value(2).replaceAll('\n', '\r\n'));
    put('new.env', value(7));
    const first = await scan();
    const inGit = ({ secrets: { files } }: MaskedTree) =>
      files.map(({ path: one, state, isInGit }) => [one, state, isInGit]);
    expect(inGit(first)).toEqual([
      ['crlf.env', 'tracked', true],
      ['new.env', 'masked', false],
      ['now.env', 'tracked', true],
      ['was.env', 'masked', true],
    ]);
    put('now.env', value(9));
    expect(inGit(await scan())[2]).toEqual(['now.env', 'tracked', false]);
  },
);

const GENERATED = 's3cr3t1Zq1xK64fpW';

test('an ignored file of settings is masked by the names of its values', async () => {
  const { put, git, scan } = scene();
  put('.gitignore', '*\n!public.yml\n');
  const secret: Readonly<Record<string, string>> = {
    'config/database.yml': `production:\n  password: ${GENERATED}\n  pool: 5\n`,
    'app.ini': `[security]\nclient_secret = ${GENERATED}\n`,
    'application-local.properties': `spring.datasource.password=${GENERATED}\n`,
    'env.sh': `export API_KEY=${GENERATED}\n`,
    env: `DB_PASSWORD=${GENERATED}\n`,
    'wp-config.php': `<?php define('DB_PASSWORD', '${GENERATED}');\n`,
    'local_settings.py': `SECRET_KEY = "${GENERATED}"\n`,
    'config.json': `{"auth":{"accessToken":"${GENERATED}"}}`,
    'http.xml': `<a><password>${GENERATED}</password></a>`,
    '.env.example.local': `API_KEY=${GENERATED}\n`,
  };
  const other = 'Xq9Lm4Tz8Rv2Wk6Pd';
  const harmless: Readonly<Record<string, string>> = {
    'dist/config.json': `{"dbSecret":"${other}"}`,
    'labels.json': '{"password":"Mot de passe","token":"Jeton"}',
    'enum.ts': 'export const T = { token: "TOKEN", password: getPassword("a1b2c3d4") };\n',
    'list.json': `{"key":"item-12345678","id":"${other}"}`,
    'compose.yml': 'services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: postgres\n',
    '.eslintcache': `{"token":"${other}"}`,
  };
  for (const [name, text] of Object.entries({ ...secret, ...harmless })) put(name, text);
  put('public.yml', `password: ${other}\n`);
  put('tracked.yml', `password: ${GENERATED}\n`);
  git('add', '-f', 'tracked.yml');
  const tree = await scan();
  expect(tree.secrets.files.map(({ path: one }) => one)).toEqual(Object.keys(secret).sort());
  for (const [name, text] of Object.entries(secret)) {
    expect(rewritten(tree, name), name).not.toContain(GENERATED);
    expect(rewritten(tree, name), name).toHaveLength(text.length);
  }
});

test('a file that is a key and nothing else is masked under any name, also where git does not ignore it', async () => {
  const { put, git, scan } = scene();
  const key = `-----BEGIN PRIVATE ${'KEY'}-----\nMC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE ${'KEY'}-----\n`;
  put('deploy', key);
  put('id.pub', key);
  put('my-project-1a2b3c.json', JSON.stringify({ type: 'service_account', private_key: key }));
  put('notes.md', `A key:\n\n${key}`);
  put('fixture', key);
  git('add', 'fixture');
  expect((await scan()).secrets.files.map(({ path: one, reason, state }) => [one, reason, state])).toEqual([
    ['deploy', 'private key', 'masked'],
    ['id.pub', 'private key', 'masked'],
    ['my-project-1a2b3c.json', 'cloud credentials', 'masked'],
    ['notes.md', 'a token or key in it', 'by-content'],
  ]);
});

test('large ignored files are searched after the others, and larger ones are named', async () => {
  const { put, scan } = scene();
  put('.gitignore', '*.log\n');
  const lines = 'nothing to see\n'.repeat(5000);
  put('a.log', `${lines.repeat(20)}${TOKEN}\n`);
  put('b.log', lines.repeat(60));
  put('c.log', `${lines}${TOKEN}\n`);
  put('d.log', `${lines.repeat(120)}${TOKEN}\n`);
  put('e.log', 'nothing\n');
  const first = await scan();
  expect(first.secrets.files.map(({ path: one }) => one)).toEqual(['a.log', 'c.log']);
  expect(rewritten(first, 'a.log')).toContain(lines);
  expect(rewritten(first, 'a.log')).not.toContain(TOKEN);
  expect(first.secrets.found.unsearched).toEqual(['b.log', 'd.log']);
  // Within the limit of a file, it is searched by a later scan.
  expect((await scan({ known: knownOf(first) })).secrets.found.unsearched).toEqual(['d.log']);
});

test('a copy of a masked file is one also behind the limits of the search', async () => {
  const { put, scan } = scene();
  put('.gitignore', '*.log\n.env\n');
  put('.env', `DB_PASSWORD=${SECRET}\n`);
  for (let number = 0; number < 501; number += 1) put(`${number}.log`, 'text\n');
  put('zz.log', `DB_PASSWORD=${SECRET}\n`);
  expect((await scan()).secrets.files.map(({ path: one }) => one)).toEqual(['.env', 'zz.log']);
});

test('a token in an ignored database has a decoy of its length', async () => {
  const { root, put, scan } = scene();
  put('.gitignore', '*.db\n');
  writeFileSync(
    path.join(root, 'a.db'),
    Buffer.concat([Buffer.alloc(100), Buffer.from(TOKEN), Buffer.alloc(100, 0xff)]),
  );
  const tree = await scan();
  const made = tree.rewrite('a.db', readFileSync(path.join(root, 'a.db'))).bytes;
  expect([made.length, made.indexOf(TOKEN), made.indexOf('ghp_')]).toEqual([240, -1, 100]);
});

test('a secret of a file with an ordinary name is found in other files too', async () => {
  const { put, git, scan } = scene();
  put('.gitignore', 'private/\n');
  put('private/database.yml', `password: ${GENERATED}\n`);
  put('private/a.log', `with ${GENERATED}\n`);
  put('private/z.b64', Buffer.from(`password: ${GENERATED}`).toString('base64'));
  put('tracked.txt', GENERATED);
  git('add', 'tracked.txt');
  const tree = await scan();
  expect(tree.secrets.files.map(({ path: one, reason }) => [one, reason])).toEqual([
    ['private/a.log', 'a secret of private/database.yml in it'],
    ['private/database.yml', 'a value that is named as a secret'],
    ['private/z.b64', 'a secret of private/database.yml in it'],
  ]);
  for (const { path: one } of tree.secrets.files) expect(rewritten(tree, one)).not.toContain(GENERATED);
  put('private/new.log', `also ${GENERATED}\n`);
  expect(kindAt(await scan({ known: knownOf(tree) }), 'private/new.log')).toBe('g');
});

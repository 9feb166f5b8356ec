import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isWatchedPath } from '../../../../src/audit/files.ts';
import { selectPaths } from '../../../../src/core/text/selection.ts';
import { releaseRef } from '../../../../src/workspace/base/generations/generation-refs.ts';
import { openGenerationFiles, referToNewest } from '../../../../src/workspace/base/generations/newest-files.ts';
import { listBindChanges } from '../../../../src/workspace/bind/changes.ts';
import { earlierSources } from '../../../../src/workspace/bind/earlier-content.ts';
import { scanProject } from '../../../../src/workspace/bind/scan-project.ts';
import { type BindSnapshot, bindStore, readSnapshot, takeSnapshot } from '../../../../src/workspace/bind/snapshot.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
let root: string;
let sessionDir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-earlier-'));
  root = path.join(dir, 'project');
  sessionDir = path.join(dir, 'session');
  for (const one of [root, sessionDir]) mkdirSync(one);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A file that is older than any index that is written from now on. */
function put(name: string, content = `${name}\n`, top = root): void {
  const file = path.join(top, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  utimesSync(file, 1_600_000_000, 1_600_000_000);
}

function git(cwd: string, ...args: readonly string[]): string {
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, GIT_CONFIG_NOSYSTEM: '1' };
  const own = [
    '-c',
    'user.name=P',
    '-c',
    'user.email=p@example.org',
    '-c',
    'protocol.file.allow=always',
    '-c',
    'core.fsync=none',
  ];
  return execFileSync('git', [...own, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function commit(cwd = root, ...init: readonly string[]): void {
  git(cwd, 'init', '-q', '-b', 'main', ...init);
  git(cwd, 'add', '-A');
  git(cwd, 'commit', '-q', '-m', 'first');
}

/** The snapshot of a session that starts now, as it is read after a crash. */
async function start({ isShielded = true, isWatched = isWatchedPath } = {}): Promise<BindSnapshot> {
  const baseDir = path.join(dir, 'base');
  const generation = await referToNewest(baseDir, { sessionId: 'bound', sessionDir });
  const base = generation === undefined ? undefined : { generation, files: openGenerationFiles(baseDir, generation) };
  const taken = await takeSnapshot({ root, sessionDir, isShielded, isWatched, base });
  const read = readSnapshot(sessionDir);
  expect(read).toEqual(taken);
  return read as BindSnapshot;
}

/** By path, the content that the end of the session shows as the one before: undefined where it is not known. */
async function shownBefore(before: BindSnapshot): Promise<Record<string, string | undefined>> {
  const now = scanProject(root, (name) => name === '.git');
  const sources = earlierSources(before, path.join(dir, 'base'));
  const { changes } = await listBindChanges({
    root,
    before,
    now,
    sessionDir,
    sources,
    pathFolders: [],
    isMasked: () => false,
  });
  const shown: Record<string, string | undefined> = {};
  for (const { path: name, before: old } of changes) {
    shown[name] = old?.digest === undefined ? undefined : (await bindStore(sessionDir).read(old.digest)).toString();
  }
  return shown;
}

const change = (name: string): void => appendFileSync(path.join(root, name), 'changed\n');
const keptBytes = (): number =>
  ['bind.json', 'bind.pack'].reduce((sum, name) => sum + lstatSync(path.join(sessionDir, name)).size, 0);

/** Names as projects have them; none of them is run by its name. */
const ORDINARY = ['ts', 'js', 'py', 'c', 'md', 'txt', 'java', 'rs', 'css', 'html', 'svg', 'json', 'sh'];

describe('of a thousand ordinary files', () => {
  beforeEach(() => {
    for (let i = 0; i < 1000; i += 1)
      put(`src/m${i % 20}/file${i}.${ORDINARY[i % ORDINARY.length]}`, `${i}\n`.repeat(50));
  });

  it.each([
    ['without git', () => undefined],
    ['with git', () => commit()],
  ])('%s keeps no content, and at most 33 bytes for each', async (_, prepare) => {
    prepare();
    const { digests, pieces } = await start({
      isShielded: lstatSync(path.join(root, '.git'), { throwIfNoEntry: false }) !== undefined,
    });
    expect([digests.size, pieces.size]).toEqual([0, 0]);
    // A million bytes for thirty thousand files.
    expect(keptBytes()).toBeLessThan(33 * 1000);
  });
});

it('keeps what a tool may run, and ignore rules, where nothing else has them', async () => {
  for (const name of ['Makefile', 'package.json', '.gitignore', 'src/a.ts', 'deep/Makefile', '.env']) put(name);
  const before = await start({ isShielded: false });
  expect([...before.digests.keys()].sort()).toEqual([
    '.env',
    '.gitignore',
    'Makefile',
    'deep/Makefile',
    'package.json',
  ]);
  for (const name of ['Makefile', 'src/a.ts']) change(name);
  expect(await shownBefore(before)).toEqual({ Makefile: 'Makefile\n', 'src/a.ts': undefined });
});

it('keeps of a repository in the project what git may run, and no objects, of its submodules either', async () => {
  const library = path.join(dir, 'library');
  put('a.ts', 'a\n', library);
  commit(library);
  put('nested/b.ts');
  commit(path.join(root, 'nested'));
  git(path.join(root, 'nested'), 'submodule', 'add', '-q', library, 'lib');
  const before = await start({ isShielded: false });
  const kept = [...before.digests.keys()];
  expect(kept).toContain('nested/.git/config');
  expect(kept).toContain('nested/.git/modules/lib/config');
  expect(kept.filter((name) => /\/objects\/(pack|[0-9a-f]{2})\//.test(name))).toEqual([]);
});

describe('from git’s objects', () => {
  it('shows each file that the index calls unchanged as it was, also after the user has committed', async () => {
    for (const name of ['a.ts', 'src/b.ts', 'Makefile', 'ünï cödé.txt', 'to:colon ^{tree}', 'gone.txt']) put(name);
    commit();
    const before = await start();
    expect(before.digests.size).toBe(0);
    for (const name of ['a.ts', 'src/b.ts', 'Makefile', 'ünï cödé.txt', 'to:colon ^{tree}']) change(name);
    rmSync(path.join(root, 'gone.txt'));
    git(root, 'add', '-A');
    git(root, 'commit', '-q', '-m', 'the user takes it over');
    git(root, 'gc', '-q');
    expect(await shownBefore(before)).toEqual({
      'a.ts': 'a.ts\n',
      'src/b.ts': 'src/b.ts\n',
      Makefile: 'Makefile\n',
      'ünï cödé.txt': 'ünï cödé.txt\n',
      'to:colon ^{tree}': 'to:colon ^{tree}\n',
      'gone.txt': 'gone.txt\n',
    });
  });

  it('takes nothing from it for what differs from the index, and keeps what a tool may run of that', async () => {
    for (const name of ['a.ts', 'Makefile', 'src/same.ts']) put(name);
    commit();
    for (const name of ['a.ts', 'Makefile']) put(name, `${name} edited\n`);
    put('new.txt');
    const before = await start();
    expect([...before.digests.keys()]).toEqual(['Makefile']);
    for (const name of ['a.ts', 'Makefile', 'new.txt', 'src/same.ts']) change(name);
    expect(await shownBefore(before)).toEqual({
      'a.ts': undefined,
      Makefile: 'Makefile edited\n',
      'new.txt': undefined,
      'src/same.ts': 'src/same.ts\n',
    });
  });

  it('shows staged content that no commit has', async () => {
    for (const name of ['a.ts', 'src/b.ts', 'other/c.ts']) put(name);
    commit();
    put('src/b.ts', 'staged\n');
    put('src/new.ts', 'new\n');
    git(root, 'add', '-A');
    const before = await start();
    const [repository] = before.tracked;
    // Only what is in a changed directory is named by its own id.
    expect([...(repository?.blobs.keys() ?? [])].sort()).toEqual(['a.ts', 'src/b.ts', 'src/new.ts']);
    expect([...(repository?.trees.keys() ?? [])]).toEqual(['other']);
    for (const name of ['a.ts', 'src/b.ts', 'src/new.ts', 'other/c.ts']) change(name);
    expect(await shownBefore(before)).toEqual({
      'a.ts': 'a.ts\n',
      'src/b.ts': 'staged\n',
      'src/new.ts': 'new\n',
      'other/c.ts': 'other/c.ts\n',
    });
  });

  it.each([
    ['line ends', '/Makefile text eol=crlf', 'all:\r\n'],
    ['an encoding', '/Makefile working-tree-encoding=UTF-16LE', Buffer.from('all:\n', 'utf16le').toString('latin1')],
  ])('keeps what git stores in another form: %s', async (_, attribute, content) => {
    put('.gitattributes', `${attribute}\n${attribute.replace('Makefile', 'notes.txt')}\n`);
    put('Makefile', content);
    put('notes.txt', content);
    put('sub/Makefile', 'all:\n');
    commit();
    const before = await start();
    expect(before.unchanged.has('Makefile')).toBe(true);
    expect([...before.digests.keys()]).toEqual(['Makefile']);
    for (const name of ['Makefile', 'notes.txt']) change(name);
    expect(await shownBefore(before)).toEqual({ Makefile: content, 'notes.txt': undefined });
  });

  it('keeps what an index cannot vouch for: written in its last moment, a split index, an object that is missing', async () => {
    put('Makefile');
    commit();
    const index = path.join(root, '.git/index');
    utimesSync(index, 1_500_000_000, 1_500_000_000);
    expect([...(await start()).digests.keys()]).toEqual(['Makefile']);
    utimesSync(index, new Date(), new Date());
    expect([...(await start()).digests.keys()]).toEqual([]);
    git(root, 'update-index', '--split-index');
    expect([...(await start()).digests.keys()]).toEqual(['Makefile']);
    git(root, 'update-index', '--no-split-index');
    expect([...(await start()).digests.keys()]).toEqual([]);
    const id = git(root, 'rev-parse', 'HEAD:Makefile').trim();
    rmSync(path.join(root, '.git/objects', id.slice(0, 2), id.slice(2)));
    expect([...(await start()).digests.keys()]).toEqual(['Makefile']);
  });

  it('reads the repository of a linked work tree, of a submodule, and one with object names of 32 bytes', async () => {
    const main = path.join(dir, 'main');
    put('a.ts', 'a\n', main);
    commit(main, '--object-format=sha256');
    const lib = path.join(dir, 'lib');
    put('in-lib.ts', 'lib\n', lib);
    commit(lib, '--object-format=sha256');
    git(main, 'submodule', 'add', '-q', lib, 'third/lib');
    git(main, 'commit', '-q', '-m', 'with a submodule');
    rmSync(root, { recursive: true });
    git(main, 'worktree', 'add', '-q', root);
    git(root, 'submodule', 'update', '--init', '-q');
    // Checkouts are younger than their index by less than a tick.
    for (const one of [root, path.join(root, 'third/lib')]) {
      for (const name of ['a.ts', 'in-lib.ts']) {
        const file = path.join(one, name);
        if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) utimesSync(file, 1_600_000_000, 1_600_000_000);
      }
      git(one, 'update-index', '-q', '--refresh');
    }
    const before = await start();
    expect(before.tracked.map(({ top }) => top)).toEqual(['', 'third/lib']);
    for (const name of ['a.ts', 'third/lib/in-lib.ts']) change(name);
    expect(await shownBefore(before)).toEqual({ 'a.ts': 'a\n', 'third/lib/in-lib.ts': 'lib\n' });
  });

  it('asks no repository that the agent can change', async () => {
    put('nested/Makefile');
    put('nested/a.ts');
    commit(path.join(root, 'nested'));
    put('b.ts');
    commit();
    const before = await start();
    expect(before.tracked.map(({ top }) => top)).toEqual(['']);
    expect([...before.digests.keys()].filter((name) => !name.includes('.git/'))).toEqual(['nested/Makefile']);
    const unshielded = await start({ isShielded: false });
    expect(unshielded.tracked).toEqual([]);
  });
});

it.each([
  [
    'a repository in the project that its .git file names',
    () => {
      renameSync(path.join(root, '.git'), path.join(root, '.bare'));
      writeFileSync(path.join(root, '.git'), 'gitdir: ./.bare\n');
    },
  ],
  [
    'a repository that borrows objects from one in the project',
    () => {
      git(root, 'clone', '-q', '--bare', '.', 'lender');
      writeFileSync(path.join(root, '.git/objects/info/alternates'), '../../lender/objects\n');
    },
  ],
])('takes nothing from %s: the agent can write there', async (_, lay) => {
  put('Makefile');
  commit();
  expect((await start()).tracked.length).toBe(1);
  lay();
  const before = await start();
  expect(before.tracked).toEqual([]);
  expect(before.digests.has('Makefile')).toBe(true);
});

describe('from the base that copy mode keeps', () => {
  it('shows each file as it was, without its own copy', async () => {
    for (const name of ['a.ts', 'deep/b.py', 'Makefile', 'edited.ts', 'masked/Makefile', 'masked/a.ts']) put(name);
    await refresh(dir, 'copied', { selection: selectPaths({ exclude: [], include: [], mask: ['masked/*'] }) });
    releaseRef(path.join(dir, 'base'), 'copied');
    // Of the same length and time.
    put('edited.ts', 'EDITED.TS\n');
    const before = await start({ isShielded: false });
    expect([...before.digests.keys()]).toEqual(['masked/Makefile']);
    for (const name of ['a.ts', 'deep/b.py', 'Makefile', 'edited.ts', 'masked/Makefile', 'masked/a.ts']) change(name);
    // A session in copy mode changes nothing of the generation that the snapshot references.
    await refresh(dir, 'later');
    expect(await shownBefore(before)).toEqual({
      'a.ts': 'a.ts\n',
      'deep/b.py': 'deep/b.py\n',
      Makefile: 'Makefile\n',
      'edited.ts': undefined,
      'masked/Makefile': 'masked/Makefile\n',
      'masked/a.ts': undefined,
    });
  });

  it('does without a base that another start is changing, and one that is damaged', async () => {
    put('Makefile');
    await refresh(dir, 'copied');
    const manifest = path.join(dir, 'base/gen/1/manifest');
    const whole = readFileSync(manifest);
    writeFileSync(manifest, whole.subarray(0, 40));
    expect([...(await start({ isShielded: false })).digests.keys()]).toEqual(['Makefile']);
    writeFileSync(manifest, whole);
    writeFileSync(path.join(dir, 'base/gen/1/journal'), '[]');
    expect([...(await start({ isShielded: false })).digests.keys()]).toEqual(['Makefile']);
  });
});

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitObjects } from '../../../../src/review/commits/git-objects.ts';
import { compareRepositories, isSameEntry } from '../../../../src/workspace/bind/compare.ts';
import { isExecutablePart, isRepositoryAt } from '../../../../src/workspace/bind/repositories.ts';
import { restoreDifference } from '../../../../src/workspace/bind/restore.ts';
import { type HostEntry, readRegularFile, scanProject } from '../../../../src/workspace/bind/scan-project.ts';
import { takeSnapshot } from '../../../../src/workspace/bind/snapshot.ts';

const top = mkdtempSync(path.join(tmpdir(), 'run-claude-bind-guards-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const seen = (more: Partial<HostEntry> = {}): HostEntry => ({
  kind: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  size: 1,
  mtimeNs: '1',
  ctimeNs: '1',
  ino: '1',
  ...more,
});
const entries = (of: Record<string, HostEntry>) => ({
  entries: new Map(Object.entries(of)),
  unreadable: new Map<string, string>(),
});

describe('limits on reading a project after a bind session', () => {
  beforeAll(() => {
    writeFileSync(path.join(top, 'file'), 'text');
    symlinkSync('file', path.join(top, 'link'));
    mkdirSync(path.join(top, 'folder'));
    execFileSync('mkfifo', [path.join(top, 'fifo')]);
  });

  it.each([
    ['file', 4, 'text'],
    ['file', 3, undefined],
    ['link', 10, undefined],
    ['folder', 10_000, undefined],
    ['fifo', 10, undefined],
  ])('%s, at most %i bytes', (name, limit, wanted) => {
    expect(readRegularFile(top, name, limit)?.toString()).toBe(wanted);
  });
});

describe('entries differ by', () => {
  it.each<[string, Partial<HostEntry>]>([
    ['mode', { mode: 0o755 }],
    ['size', { size: 2 }],
    ['inode', { ino: '2' }],
    ['change time, which no program can set', { ctimeNs: '2' }],
    ['kind', { kind: 'symlink' }],
  ])('%s', (_, more) => {
    expect(isSameEntry(seen(), seen())).toBe(true);
    expect(isSameEntry(seen(), seen(more))).toBe(false);
  });

  it('a repository replaced by another one, and a folder that is no longer readable', () => {
    const repository = { 'sub/.git': seen({ kind: 'dir' }), 'sub/.git/HEAD': seen() };
    const before = {
      ...entries(repository),
      repositories: new Set(['sub/.git']),
      digests: new Map(),
      targets: new Map(),
    };
    expect(compareRepositories(before, entries(repository))).toEqual([]);
    const other = entries({ ...repository, 'sub/.git': seen({ kind: 'dir', ino: '9' }) });
    expect(compareRepositories(before, other)).toMatchObject([{ path: 'sub/.git', kind: 'planted' }]);
    const closed = { ...entries(repository), unreadable: new Map([['sub/.git', 'EACCES']]) };
    expect(compareRepositories(before, closed)).toMatchObject([{ path: 'sub/.git', kind: 'lost' }]);
  });

  it.each([
    ['refs/heads/main', 'file', false],
    ['refs/heads/main', 'symlink', true],
    ['refs/heads/main', 'fifo', true],
    ['objects/ab/cd', 'file', false],
    ['objects/info/alternates', 'file', true],
    ['config.worktree', 'file', true],
    ['hooks', 'dir', false],
    ['worktrees', 'dir', true],
    [`modules/lib/objects/ab/${'c'.repeat(38)}`, 'file', false],
    ['modules/lib/objects/pack/pack-0123abcd.idx', 'file', false],
    // git-lfs does not check what it has.
    [`lfs/objects/ab/cd/${'e'.repeat(64)}`, 'file', true],
    [`modules/lib/objects/ab/${'c'.repeat(38)}`, 'symlink', true],
    ['modules/lib/objects/info/alternates', 'file', true],
    ['modules/lib/config', 'file', true],
    // Of a submodule of that name.
    ['modules/lib/objects/config', 'file', true],
    ['modules/lib/objects/hooks/post-checkout', 'file', true],
  ] as const)('.git/%s, a %s', (inner, kind, runs) => {
    expect(isExecutablePart(`.git/${inner}`, kind, '.git')).toBe(runs);
  });

  it('a bare repository by commondir alone', () => {
    const { entries: found } = entries({ 'x/HEAD': seen(), 'x/commondir': seen() });
    expect([isRepositoryAt('x', found), isRepositoryAt('', found)]).toEqual([true, false]);
  });
});

it('restores owner, mode and content under a name of any length; a link is moved to another disk as a link', async () => {
  const root = path.join(top, 'project');
  // Elsewhere: a rename cannot bring it there.
  const sessionDir = mkdtempSync('/dev/shm/run-claude-bind-guards-');
  try {
    const long = `sub/.git/hooks/${'n'.repeat(255)}`;
    const at = (name: string): string => path.join(root, name);
    mkdirSync(at('sub/.git/hooks'), { recursive: true });
    for (const name of ['sub/.git/HEAD', long]) writeFileSync(at(name), 'mine');
    chmodSync(at(long), 0o750);
    // Only root can change the owner of a file.
    const owner = process.getuid?.() === 0 ? 1234 : lstatSync(at(long)).uid;
    chownSync(at(long), owner, -1);
    const before = await takeSnapshot({ root, sessionDir, isShielded: false, isWatched: () => false });
    rmSync(at(long));
    symlinkSync('/etc/passwd', at(long));
    const difference = { path: long, kind: 'changed', why: 'changed' } as const;
    const said = await restoreDifference(difference, { root, sessionDir, before });
    expect(said).toContain('; restored');
    const back = lstatSync(at(long));
    expect([readFileSync(at(long), 'utf8'), back.mode & 0o7777, back.isFile()]).toEqual(['mine', 0o750, true]);
    expect(back.uid).toBe(owner);
    const moved = /the new one is (\S+)$/.exec(said)?.[1] ?? '';
    expect(readlinkSync(moved)).toBe('/etc/passwd');
    expect(scanProject(root, () => false).entries.size).toBe(before.entries.size);
  } finally {
    rmSync(sessionDir, { recursive: true, force: true });
  }
});

describe('objects of a hostile repository', () => {
  const repo = path.join(top, 'repo');
  const env = { PATH: process.env['PATH'], HOME: top, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=n', '-c', 'user.email=e', ...args], {
      env,
      encoding: 'utf8',
    }).trim();
  beforeAll(() => {
    mkdirSync(repo);
    execFileSync('git', ['init', '-q', '-b', 'main', repo], { env });
    for (const text of ['one', 'two', 'evil']) {
      writeFileSync(path.join(repo, 'f'), text);
      git('add', 'f');
      git('commit', '-qm', text);
    }
  });

  it('are read without replacements, grafts or other repositories, and names are never options', async () => {
    const [head, middle, first] = ['HEAD', 'HEAD~1', 'HEAD~2'].map((name) => git('rev-parse', name)) as [
      string,
      string,
      string,
    ];
    git('replace', head, middle);
    mkdirSync(path.join(repo, '.git', 'info'), { recursive: true });
    writeFileSync(path.join(repo, '.git', 'info', 'grafts'), `${head} ${first}\n`);
    const marker = path.join(top, 'marker');
    const hostile = {
      ...env,
      GIT_DIR: path.join(top, 'nowhere'),
      GIT_OBJECT_DIRECTORY: path.join(top, 'nowhere'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: `touch ${marker}`,
      GIT_GRAFT_FILE: path.join(repo, '.git', 'info', 'grafts'),
      GIT_TRACE: marker,
    };
    const objects = openGitObjects(repo, hostile);
    expect(await objects.commit('main')).toBe(head);
    const [entry] = await objects.tree(head);
    const content = (await objects.read([entry?.oid ?? ''])).get(entry?.oid ?? '');
    expect(content?.toString()).toBe('evil');
    // By the graft the two would have the first in common.
    expect(await objects.mergeBase(middle, head)).toBe(middle);
    expect(existsSync(marker)).toBe(false);
    for (const name of ['-x', '--output=/tmp/x', ''])
      await expect(objects.commit(name)).rejects.toThrow(/is not a commit/);
  });
});

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listBindChanges } from '../../../../src/workspace/bind/changes.ts';
import { compareRepositories, type GitDifference } from '../../../../src/workspace/bind/compare.ts';
import { earlierSources } from '../../../../src/workspace/bind/earlier-content.ts';
import { restoreDifference } from '../../../../src/workspace/bind/restore.ts';
import { scanProject } from '../../../../src/workspace/bind/scan-project.ts';
import { type BindSnapshot, takeSnapshot } from '../../../../src/workspace/bind/snapshot.ts';

let top: string;
let root: string;
let before: BindSnapshot;

const at = (name: string): string => path.join(root, name);
const write = (name: string, text: string): void => {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
};
const plantBare = (dir: string): void => {
  for (const name of ['objects', 'refs']) mkdirSync(at(path.join(dir, name)), { recursive: true });
  write(path.join(dir, 'HEAD'), 'ref: refs/heads/main\n');
};

beforeEach(async () => {
  top = mkdtempSync(path.join(tmpdir(), 'run-claude-bind-unit-'));
  root = path.join(top, 'project');
  plantBare('sub/.git');
  write('sub/.git/config', '[core]\n');
  write('sub/.git/hooks/pre-push', '#!/bin/sh\n');
  write('sub/.git/info/exclude', '# none\n');
  write('.gitignore', 'out/\n');
  write('a.txt', 'a\n');
  before = await takeSnapshot({ root, sessionDir: top, isShielded: false, isWatched: (name) => name === '.gitignore' });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const differences = (): GitDifference[] =>
  compareRepositories(
    before,
    scanProject(root, () => false),
  );

/** What the end of the session shows. The base is at `top`/base. */
const changesNow = (pathFolders: readonly string[] = []): ReturnType<typeof listBindChanges> =>
  listBindChanges({
    root,
    before,
    now: scanProject(root, (name) => name === '.git'),
    sessionDir: top,
    sources: earlierSources(before, path.join(top, 'base')),
    pathFolders,
    isMasked: (name) => name.endsWith('.masked'),
  });

async function restoreAll(): Promise<string[]> {
  const options = { root, sessionDir: top, before };
  const lines: string[] = [];
  for (const difference of differences()) {
    lines.push(await restoreDifference(difference, options).catch((error: Error) => `NOT: ${error.message}`));
  }
  return lines;
}

it('finds no difference in what git writes in daily work', () => {
  write('sub/.git/COMMIT_EDITMSG', 'm\n');
  write('sub/.git/refs/heads/main', '0\n');
  write('sub/.git/objects/ab/cd', 'x');
  write('sub/.git/index', 'x');
  expect(differences()).toEqual([]);
});

it.each([
  ['hooks a link', () => swap('sub/.git/hooks'), 'sub/.git/hooks'],
  ['info a link', () => swap('sub/.git/info'), 'sub/.git/info'],
  ['objects a link', () => swap('sub/.git/objects'), 'sub/.git/objects'],
  ['commondir', () => write('sub/.git/commondir', '../../evil'), 'sub/.git/commondir'],
  ['alternates', () => write('sub/.git/objects/info/alternates', '/evil'), 'sub/.git/objects/info/alternates'],
  ['a new hook', () => write('sub/.git/hooks/post-commit', '#!/bin/sh'), 'sub/.git/hooks/post-commit'],
  ['a mode', () => chmodSync(at('sub/.git/hooks/pre-push'), 0o755), 'sub/.git/hooks/pre-push'],
  ['the project as a bare repository', () => plantBare('.'), 'HEAD'],
  ['a bare one in a folder', () => plantBare('out/deep'), 'out/deep'],
  ['one under another letter case', () => plantBare('out/.GIT'), 'out/.GIT'],
])('finds and undoes %s', async (_, attack, where) => {
  attack();
  expect(differences().map((difference) => difference.path)).toContain(where);
  await restoreAll();
  // What was put back has its own inode.
  expect(differences().filter(({ kind }) => kind !== 'changed')).toEqual([]);
  expect(lstatSync(at('sub/.git/hooks/pre-push')).mode & 0o777).toBe(0o644);
  expect(lstatSync(at('sub/.git/hooks')).isDirectory()).toBe(true);
  expect(readFileSync(at('sub/.git/hooks/pre-push'), 'utf8')).toBe('#!/bin/sh\n');
});

function swap(dir: string): void {
  renameSync(at(dir), at('moved'));
  symlinkSync(path.join(top, 'outside'), at(dir));
  mkdirSync(path.join(top, 'outside'));
}

it('writes nothing through a link that replaced a folder', async () => {
  renameSync(at('sub/.git/hooks'), at('moved'));
  mkdirSync(path.join(top, 'outside'));
  symlinkSync(path.join(top, 'outside'), at('sub/.git/hooks'));
  const options = { root, sessionDir: top, before };
  const removed: GitDifference = { path: 'sub/.git/hooks/pre-push', kind: 'removed', why: 'removed' };
  await expect(restoreDifference(removed, options)).rejects.toThrow(/is no longer a folder/);
  expect(existsSync(path.join(top, 'outside', 'pre-push'))).toBe(false);
});

it('counts changes that the earlier ignore rules match, and no others', async () => {
  write('out/one', '1');
  write('out/two', '2');
  write('.gitignore', '*\n');
  write('a.txt', 'changed\n');
  const { changes, ignored } = await changesNow();
  expect(ignored).toEqual([{ directory: 'out', entries: 3, bytes: expect.any(Number) }]);
  expect(changes.map(({ path: name }) => name).sort()).toEqual(['.gitignore', 'a.txt']);
});

it('shows what is ignored where PATH leads to it', async () => {
  write('out/bin/git', '#!/bin/sh\n');
  write('out/bin/deeper/git', '#!/bin/sh\n');
  write('out/other', 'x');
  const { changes, ignored } = await changesNow(['out/bin']);
  expect(changes.map(({ path: name, kind }) => `${kind} ${name}`)).toEqual(['created out/bin/git']);
  expect(ignored).toEqual([expect.objectContaining({ directory: 'out' })]);
});

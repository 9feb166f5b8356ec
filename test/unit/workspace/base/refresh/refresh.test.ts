import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EVERYTHING, type Selection } from '../../../../../src/core/text/selection.ts';
import type { SessionEvent } from '../../../../../src/core/types/event.ts';
import type { BaseGeneration } from '../../../../../src/workspace/base/base.ts';
import { copyFiles } from '../../../../../src/workspace/base/refresh/copy-files.ts';
import { refreshTree } from '../../../../../src/workspace/base/refresh/refresh.ts';
import { compareSnapshots } from '../../../../../src/workspace/scan/snapshot.ts';
import { walkTree } from '../../../../../src/workspace/scan/walk.ts';
import { treeFacts } from '../../../../support/tree-facts.ts';
import { refresh } from '../../../../support/workspace/refresh-scene.ts';

// A project that the user edits while it is walked and copied. The rules of what is left out are asked in the middle of
// the walk, when an entry has been looked at: there the edits happen.

let dir: string;
let project: string;
let told: SessionEvent[];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-meanwhile-'));
  project = path.join(dir, 'project');
  told = [];
  for (const folder of ['a', 'b', 'c']) mkdirSync(path.join(project, folder), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const put = (name: string, content: string): void => writeFileSync(path.join(project, name), content);

/** Leaves nothing out; tells of each entry that was looked at. */
const watching = (seen: (entry: string) => void): Selection => ({
  any: true,
  key: '',
  masked: () => false,
  leftOut: (entry) => {
    seen(entry);
    return false;
  },
});

const prepare = (id: string, selection: Selection = EVERYTHING): Promise<BaseGeneration> =>
  refresh(dir, id, { selection, tell: (event) => told.push(event) });

const treeOf = (base: BaseGeneration): string => path.join(base.dir, 'tree');
const messages = (): string[] => told.flatMap((event) => (event.kind === 'message' ? [event.text] : []));

it('reads no link that replaced a scanned file of git', async () => {
  const pointer = path.join(project, 'a/.git');
  put('a/.git', `gitdir: ${project}/.git/modules/a\n`);
  const walked = await walkTree({ root: project, selection: EVERYTHING });
  writeFileSync(path.join(dir, 'private'), 'PRIVATE');
  rmSync(pointer);
  symlinkSync(path.join(dir, 'private'), pointer);
  const tree = path.join(dir, 'tree');
  mkdirSync(tree);
  const differences = compareSnapshots(new Map(), walked.snapshot);
  const done = await refreshTree({ tree, walked, differences, owner: undefined, tell: () => undefined });
  expect(done.moved).toEqual(['a/.git']);
  expect(readdirSync(path.join(tree, 'a'))).toEqual([]);
});

it('walks again when something changed on both sides of the walker', async () => {
  // More than are looked at in one go.
  const files = Array.from({ length: 200 }, (_, n) => `${n}/f`);
  for (const file of files) {
    mkdirSync(path.join(project, path.dirname(file)));
    put(file, 'old');
  }
  await prepare('one');
  let edited = false;
  // Wherever the walker is: what it saw of this directory is from before, what it sees of the others from after.
  const selection = watching((entry) => {
    if (edited || !entry.endsWith('/f')) return;
    edited = true;
    for (const file of files) put(file, 'new');
  });
  const base = await prepare('two', selection);
  expect(edited).toBe(true);
  expect(treeFacts(treeOf(base))).toEqual(treeFacts(project));
});

it.each(['c/moved', 'c'])('walks again when %s went from where the walker comes to where it has been', async (what) => {
  for (const file of ['a/f', 'b/f', 'c/f', 'c/moved']) put(file, file);
  await prepare('one');
  let edited = false;
  // A directory is looked at before it is listed: nothing that is seen later says so.
  const selection = watching((entry) => {
    if (edited || entry !== 'a/f') return;
    edited = true;
    renameSync(path.join(project, what), path.join(project, 'a/moved'));
  });
  const base = await prepare('two', selection);
  expect(treeFacts(treeOf(base))).toEqual(treeFacts(project));
});

/** Another inode in the file's place. */
function replace(name: string, content: string): void {
  put(`${name}.new`, content);
  renameSync(path.join(project, `${name}.new`), path.join(project, name));
}

it('copies what moved once when it is still, without a word', async () => {
  put('a/f', '0');
  put('b/still', 'still');
  let walks = 0;
  const base = await prepare(
    'one',
    watching((entry) => {
      if (entry === 'a/f' && ++walks === 1) replace('a/f', '1');
    }),
  );
  expect(readFileSync(path.join(treeOf(base), 'a/f'), 'utf8')).toBe('1');
  expect(treeFacts(treeOf(base))).toEqual(treeFacts(project));
  expect(messages()).toEqual([]);
});

it('names what never held still, keeps the rest, and has it with the next start', async () => {
  put('a/f', '0');
  put('b/still', 'still');
  let walks = 0;
  const base = await prepare(
    'one',
    watching((entry) => {
      if (entry === 'a/f') replace('a/f', String(++walks));
    }),
  );
  expect(walks).toBe(4);
  expect(messages()).toEqual([expect.stringMatching(/kept changing .*: a\/f$/)]);
  expect([...treeFacts(treeOf(base)).keys()].sort()).toEqual(['.', 'a', 'b', 'b/still', 'c']);
  const next = await prepare('two');
  expect(treeFacts(treeOf(next))).toEqual(treeFacts(project));
});

it('reads a file when the tick of its change time is over: what is written later shows', async () => {
  put('a/f', 'same size');
  const source = path.join(project, 'a/f');
  const { ino, dev, mode, size, ctimeMs } = statSync(source);
  const job = { path: 'copy', source, ino, dev, mode, size };
  await copyFiles([job], { tree: dir, owner: undefined, signal: undefined, progress: () => undefined });
  // Ticks are 10 ms at most, and the clock of the file system is one behind at most.
  expect(Date.now() - ctimeMs).toBeGreaterThan(19);
  expect(readFileSync(path.join(dir, 'copy'), 'utf8')).toBe('same size');
});

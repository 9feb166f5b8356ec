import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Tell } from '../../../../../src/core/types/event.ts';
import { readJournals } from '../../../../../src/review/apply/disk/journal/journal.ts';
import { dir, file, layApply, type Nodes, type Sides } from '../../../../support/apply/lay.ts';

const mount = (...words: string[]): unknown => execFileSync('mount', words);

async function lay(sides: Sides, onDisk?: string) {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-batch-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = path.join(root, 'project');
  mkdirSync(project);
  if (onDisk !== undefined) {
    mount('-t', 'tmpfs', '-o', onDisk, 'tmpfs', project);
    onTestFinished(() => void execFileSync('umount', [project]));
  }
  return layApply(project, path.join(root, 'state'), sides);
}

const many = (text: string, count: number): Nodes =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${String(at).padStart(3, '0')}`, file(text)]));

/** Runs an action when the first new content is about to be renamed. */
function atFirstRename(act: () => void): Tell {
  let isDone = false;
  return (event) => {
    if (event.kind !== 'progress' || event.done === undefined || isDone) return;
    isDone = true;
    act();
  };
}

it('a disk with room for only one new content of a batch gets them one after the other', async () => {
  const [base, session] = [many('a'.repeat(65_536), 24), many('b'.repeat(65_536), 24)];
  const one = await lay({ base, session }, `size=${(24 + 2) * 65_536}`);
  const said = await one.apply();
  expect(Object.values(said)).toEqual(Array.from({ length: 24 }, () => 'applied'));
  expect(one.now()).toEqual(session);
  expect(Object.values(await one.undo())).toEqual(Array.from({ length: 24 }, () => 'applied'));
  expect(one.now()).toEqual(base);
});

it('temporary files that cannot be removed now are removed by the next command', async () => {
  const [base, session] = [many('a', 5), many('b', 5)];
  const one = await lay({ base, session }, 'size=1m');
  const remount = (how: string) => (): void => void mount('-o', `remount,${how}`, one.project);
  const said = await one.apply({ tell: atFirstRename(remount('ro')) });
  expect(new Set(Object.values(said))).toEqual(new Set(['failed: the file system is read-only']));
  const beside = (): string[] => readdirSync(one.project).filter((name) => name.startsWith('.rc-'));
  expect(beside()).toHaveLength(5);
  expect(await one.recover()).toEqual({
    thrown: expect.stringMatching(/^cannot remove \.rc-\w+-0 next to f000: the file system is read-only$/),
  });
  remount('rw')();
  expect(await one.recover()).toEqual(said);
  expect([beside(), one.now()]).toEqual([[], base]);
  expect(await one.recover()).toEqual({});
});

it('a folder that the user moves during an apply keeps its contents, and no temporary file is left in it', async () => {
  const base = { d: dir, 'd/a': file('a'), 'd/b': file('b'), x: file('x') };
  const session = { d: dir, 'd/a': file('A'), 'd/b': file('B'), x: file('X') };
  const one = await lay({ base, session });
  const move = (): void => renameSync(path.join(one.project, 'd'), path.join(one.project, 'e'));
  const changed = 'conflict: changed on the host while applying';
  expect(await one.apply({ tell: atFirstRename(move) })).toEqual({ 'd/a': changed, 'd/b': changed, x: 'applied' });
  expect(one.now()).toEqual({ e: dir, 'e/a': file('a'), 'e/b': file('b'), x: file('X') });
});

it('an interruption stops a batch between two paths and leaves no temporary file', async () => {
  const [base, session] = [many('a', 20), many('b', 20)];
  const one = await lay({ base, session });
  const abort = new AbortController();
  const tell: Tell = (event) => {
    if (event.kind === 'progress' && event.done === 7) abort.abort();
  };
  const said = await one.apply({ tell, signal: abort.signal });
  expect(Object.values(said).filter((text) => text === 'applied')).toHaveLength(7);
  expect(Object.values(said).filter((text) => text === 'skipped: interrupted')).toHaveLength(13);
  expect(Object.keys(one.now())).toEqual(Object.keys(base));
  expect(readJournals(one.sessionDir).every(({ end }) => end !== undefined)).toBe(true);
  await one.undo();
  expect(one.now()).toEqual(base);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { undoableSince } from '../../../../src/review/apply/undo.ts';
import { file, layApply } from '../../../support/apply/lay.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-undo-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const CONFLICT = expect.stringMatching(/^conflict/);
const BEFORE = { f: file('a'), g: file('g') };

it('a file that was edited since stays undoable, so that what the apply replaced can still be had', async () => {
  const scene = await layApply(path.join(root, 'p'), path.join(root, 's'), {
    base: BEFORE,
    session: { f: file('b'), g: file('G') },
  });
  await scene.apply();
  writeFileSync(path.join(scene.project, 'f'), 'mine');
  expect(await scene.undo()).toEqual({ f: CONFLICT, g: 'applied' });
  expect(await scene.undo()).toEqual({ f: CONFLICT });
  writeFileSync(path.join(scene.project, 'f'), 'b');
  expect(await scene.undo()).toEqual({ f: 'applied' });
  expect(scene.now()).toEqual(BEFORE);
  expect(await scene.undo()).toEqual({ thrown: 'this session has no apply that could be undone' });
});

it('a file that the user put back needs no undo', async () => {
  const scene = await layApply(path.join(root, 'p'), path.join(root, 's'), {
    base: BEFORE,
    session: { f: file('b'), g: file('G') },
  });
  await scene.apply();
  writeFileSync(path.join(scene.project, 'f'), 'a');
  expect(await scene.undo()).toEqual({ f: 'same: the host has it already', g: 'applied' });
  expect(await scene.undo()).toEqual({ thrown: 'this session has no apply that could be undone' });
});

it('where nothing of the last apply can be restored, the apply before it is undone', async () => {
  const scene = await layApply(path.join(root, 'p'), path.join(root, 's'), {
    base: BEFORE,
    session: { f: file('a'), g: file('G') },
  });
  await scene.apply();
  await scene.applyAgain({ f: file('b'), g: file('G') });
  writeFileSync(path.join(scene.project, 'f'), 'mine');
  expect(await scene.undo({ dryRun: true })).toEqual({ g: 'applied' });
  expect(await scene.undo()).toEqual({ g: 'applied' });
  expect(await scene.undo()).toEqual({ f: CONFLICT });
  expect(scene.now()).toEqual({ f: file('mine'), g: file('g') });
});

it('an apply counts as undoable until all of it is restored', async () => {
  const scene = await layApply(path.join(root, 'p'), path.join(root, 's'), {
    base: BEFORE,
    session: { f: file('b'), g: file('G') },
  });
  expect(undoableSince(scene.sessionDir)).toBeUndefined();
  await scene.apply();
  writeFileSync(path.join(scene.project, 'f'), 'mine');
  await scene.undo();
  expect(undoableSince(scene.sessionDir)).toBeDefined();
  writeFileSync(path.join(scene.project, 'f'), 'b');
  await scene.undo();
  expect(undoableSince(scene.sessionDir)).toBeUndefined();
});

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { dir, file, layApply, link } from '../../../support/apply/lay.ts';

const BASE = { kept: file('base'), edited: file('base'), d: dir };
const FIRST = { ...BASE, kept: file('one'), new: file('one'), 'd/l': link('a') };
const SECOND = { ...BASE, kept: file('two'), new: file('two', 0o755), 'd/l': link('b') };

async function layFirst() {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-earlier-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const scene = await layApply(path.join(root, 'project'), path.join(root, 'state'), { base: BASE, session: FIRST });
  expect(await scene.apply()).toEqual({ kept: 'applied', new: 'applied', 'd/l': 'applied' });
  return scene;
}

it('applies what a resumed session changed again where the host still has the earlier result', async () => {
  const scene = await layFirst();
  expect(await scene.applyAgain(SECOND)).toEqual({ kept: 'applied', new: 'applied', 'd/l': 'applied' });
  expect(scene.now()).toEqual(SECOND);
  await scene.undo();
  expect(scene.now()).toEqual(FIRST);
});

it('keeps edits made on the host since, also when the first apply merged with such edits', async () => {
  const scene = await layFirst();
  writeFileSync(path.join(scene.project, 'new'), 'mine');
  chmodSync(path.join(scene.project, 'new'), 0o644);
  expect(await scene.applyAgain(SECOND)).toMatchObject({ kept: 'applied', new: expect.stringContaining('conflict') });
  expect(scene.now()).toMatchObject({ kept: file('two'), new: file('mine') });

  const lines = (...all: string[]) => file(all.map((line) => `${line}\n`).join(''));
  const root = path.dirname(scene.project);
  const merged = await layApply(path.join(root, 'merged'), path.join(root, 'state2'), {
    base: { f: lines('a', 'b', 'c', 'd', 'e') },
    session: { f: lines('A', 'b', 'c', 'd', 'e') },
    host: { f: lines('a', 'b', 'c', 'd', 'HOST') },
  });
  expect(await merged.apply()).toEqual({ f: 'applied' });
  expect(await merged.applyAgain({ f: lines('AA', 'b', 'c', 'd', 'e') })).toEqual({
    f: expect.stringContaining('conflict'),
  });
  expect(merged.now()).toEqual({ f: lines('A', 'b', 'c', 'd', 'HOST') });
});

it('ignores an apply that was undone', async () => {
  const scene = await layFirst();
  await scene.undo();
  writeFileSync(path.join(scene.project, 'kept'), 'one');
  expect(await scene.applyAgain(SECOND)).toMatchObject({ kept: expect.stringContaining('conflict'), new: 'applied' });
  expect(scene.now()).toMatchObject({ kept: file('one') });
});

it('keeps a mode that the user set since, without a question', async () => {
  const scene = await layFirst();
  for (const name of ['new', 'kept']) chmodSync(path.join(scene.project, name), 0o755);
  expect(await scene.apply()).toMatchObject({
    kept: 'same: the host has it already',
    new: 'same: the host has it already',
  });
  const again = { ...FIRST, kept: file('two') };
  expect(await scene.applyAgain(again)).toMatchObject({
    kept: expect.any(String),
    new: expect.stringMatching(/^same/),
  });
  expect(scene.now()).toMatchObject({ kept: { mode: 0o755 }, new: { mode: 0o755 } });
});

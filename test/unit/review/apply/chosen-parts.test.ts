import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { file, layApply, type Sides } from '../../../support/apply/lay.ts';

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('');
const EDITED: Sides = {
  base: { f: file(lines('a', 'b', 'c', 'd', 'e')) },
  session: { f: file(lines('A', 'b', 'c', 'd', 'E')) },
};

async function lay(sides: Sides) {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-parts-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const scene = await layApply(path.join(root, 'project'), path.join(root, 'state'), sides);
  /** Applies this text instead of what the session left. */
  const part = (text: string) => {
    const chosen = scene.changes.map((change) => ({ change, content: Buffer.from(text) }));
    return scene.apply({ choice: { ...scene.choice, chosen } });
  };
  const journals = path.join(scene.sessionDir, 'journal');
  /** Removes records from the end of the last journal, as if its process had been killed before writing them. */
  const killBefore = (record: 'done' | 'end') => {
    const journal = path.join(journals, readdirSync(journals).sort().at(-1) ?? '');
    const all = readFileSync(journal, 'utf8').split('\n');
    const first = all.findIndex((line) => line.includes(`{"r":"${record}"`));
    writeFileSync(journal, `${all.slice(0, first).join('\n')}\n`);
  };
  return { ...scene, part, killBefore };
}

it('merges chosen parts of a file with the parts applied before, and reverts none of those', async () => {
  const scene = await lay(EDITED);
  expect(await scene.part(lines('A', 'b', 'c', 'd', 'e'))).toEqual({ f: 'applied: in part' });
  // With the last part the file is complete.
  expect(await scene.part(lines('a', 'b', 'c', 'd', 'E'))).toEqual({ f: 'applied' });
  expect(scene.now()).toEqual(EDITED.session);
  // The whole file, after only a part of it was applied.
  await scene.undo();
  expect(scene.now()).toEqual({ f: file(lines('A', 'b', 'c', 'd', 'e')) });
  expect(await scene.apply()).toEqual({ f: 'applied' });
  expect(scene.now()).toEqual(EDITED.session);
});

it('reports a file as applied in part when the project already has a chosen part', async () => {
  const scene = await lay({ ...EDITED, host: { f: file(lines('A', 'b', 'c', 'd', 'e')) } });
  expect(await scene.part(lines('A', 'b', 'c', 'd', 'e'))).toEqual({ f: 'applied: in part' });
  expect(await scene.part(lines('a', 'b', 'c', 'd', 'E'))).toEqual({ f: 'applied' });
});

it.each(['done', 'end'] as const)(
  'recovery after a kill before the record "%s" keeps the list of applied parts',
  async (record) => {
    const scene = await lay(EDITED);
    await scene.part(lines('A', 'b', 'c', 'd', 'e'));
    scene.killBefore(record);
    expect(await scene.recover()).toEqual({ f: 'applied: in part' });
    expect(await scene.part(lines('a', 'b', 'c', 'd', 'E'))).toEqual({ f: 'applied' });
    expect(scene.now()).toEqual(EDITED.session);
  },
);

it('a second selection of a new file replaces the first, unless the user edited the file since', async () => {
  const scene = await lay({ base: {}, session: { f: file(lines('a', 'b', 'c')) } });
  expect(await scene.part(lines('a'))).toEqual({ f: 'applied: in part' });
  expect(await scene.part(lines('a', 'b'))).toEqual({ f: 'applied: in part' });
  expect(await scene.part(lines('a', 'b', 'c'))).toEqual({ f: 'applied' });
  expect(scene.now()).toEqual({ f: file(lines('a', 'b', 'c')) });
  await scene.undo();
  writeFileSync(path.join(scene.project, 'f'), 'mine\n');
  expect(await scene.part(lines('a', 'b', 'c'))).toEqual({ f: expect.stringContaining('conflict') });
  expect(scene.now()).toEqual({ f: file('mine\n') });
});

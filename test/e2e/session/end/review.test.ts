import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Pty } from '../../../support/pty.ts';
import { Scene } from '../../../support/scene.ts';

/** 12 modified, 3 created, 1 deleted, a new hook, a changed Makefile. */
const exampleScript = [
  ...Array.from({ length: 11 }, (_, i) => `echo "changed ${i}" >> src/file${i + 1}.txt`),
  'printf "all:\\n\\techo changed\\n" > Makefile',
  'mkdir -p docs && echo one > docs/one.txt && echo two > docs/two.txt && echo three > three.txt',
  'rm src/file14.txt',
  'printf "#!/bin/sh\\ntouch /tmp/owned\\n" > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit',
].join('\n');

const exampleChanges = [
  ' D src/file14.txt',
  ' M Makefile',
  ...Array.from({ length: 11 }, (_, i) => ` M src/file${i + 1}.txt`),
  '?? docs/',
  '?? three.txt',
].sort();

const QUESTION = /\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/;

const status = (scene: Scene): string[] =>
  scene
    .git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
    .sort();

/** The question stands there when the half second in which keys are ignored is over. */
async function answer(pty: Pty, keys: string): Promise<void> {
  await pty.see(QUESTION);
  pty.send(keys);
}

it('accepts each answer, at the end and later; keys typed before the question do not count', async () => {
  await using scene = new Scene();
  const [before, sources] = [scene.fingerprint(), scene.fingerprint('src')];
  const ask = async (words: readonly string[], drive: (pty: Pty) => Promise<void>): Promise<number> => {
    await using pty = scene.pty(words, { columns: 100, rows: 60 });
    await drive(pty);
    const status = await pty.exited;
    return status;
  };
  const script = `echo started; sleep 3\n${exampleScript}`;
  const session = ask(['exec', '--yes', scene.project, '--', 'sh', '-c', script], async (pty) => {
    await pty.see(/started/);
    // What is typed while the agent runs answers nothing.
    pty.send('y\ry\ry\r');
    await pty.see(/\[sandbox\] 12 files modified, 3 files created, 1 file deleted/);
    await pty.see(/WARNING: New git hook detected: \.git\/hooks\/pre-commit \(BLOCKED — not synced\)/);
    await pty.see(/WARNING: Suspect file modified: Makefile/);
    await pty.see(QUESTION);
    await sleep(1500);
    expect(scene.fingerprint()).toBe(before);
    pty.send('n\r');
  });
  expect(await session).toBe(120);
  for (const keys of ['\r', '\u0003', '\u0004']) {
    expect(await ask(['apply'], (pty) => answer(pty, keys))).toBe(120);
  }
  const shown = ask(['apply'], async (pty) => {
    await answer(pty, 'd\r');
    const from = await pty.see(/changed 0/);
    pty.send('q');
    const again = await pty.see(QUESTION, { from });
    pty.send('l\r');
    // The list fits the screen, the differences did not.
    const listed = await pty.see(/three\.txt/, { from: again });
    await pty.see(QUESTION, { from: listed });
    pty.send('n\r');
  });
  expect(await shown).toBe(120);
  expect(scene.fingerprint()).toBe(before);

  expect((await scene.run(['apply', '--yes'])).status).toBe(121);
  expect(status(scene)).toEqual(exampleChanges.filter((line) => line !== ' M Makefile'));
  await ask(['undo'], async (pty) => {
    await pty.see(/Undo the apply of [\w :]+, 15 files\? \[y\/N\/\?\]/);
    pty.send('y\r');
  });
  expect(status(scene)).toEqual([]);
  expect(scene.fingerprint('src')).toBe(sources);

  const yes = ask(['apply'], async (pty) => {
    await answer(pty, 'y\r');
    await pty.see(/Makefile.*\[y\/N/);
    pty.send('y\r');
  });
  expect(await yes).toBe(121);
  expect(status(scene)).toEqual(exampleChanges);
  expect(existsSync(path.join(scene.project, '.git/hooks/pre-commit'))).toBe(false);
});

import { chmodSync, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Pty } from '../pty.ts';
import { Scene } from '../scene.ts';
import { startMessagesApi } from '../stand-in/messages-api.mjs';

const KEY = 'sk-ant-REAL-CREDENTIAL-9c1f7a';

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'step' } });

/** What the contract's example shows: 12 modified, 3 created, 1 deleted, a new hook, a changed Makefile. */
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

const status = (scene: Scene): string[] =>
  scene
    .git('status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
    .sort();

/** Waits for the question, and for the half second in which keys are ignored. */
async function answer(pty: Pty, keys: string): Promise<void> {
  await pty.see(/\[y\/N\/d\/s\/l\/\?\]/);
  pty.send(keys);
}

describe('the real Claude Code in a terminal', () => {
  it('interactive in a terminal: a prompt typed, a tool run, the changes reviewed with y', async () => {
    const standIn = await startMessagesApi({
      turns: [{ tools: [bash('echo interactive >> README.md')] }, { text: 'Finished the work.' }],
    });
    await using scene = new Scene({ apiUrl: standIn.url, apiKey: KEY });
    await using pty = scene.pty(['--copy-workspace', '--yes', scene.project], { columns: 120, rows: 40 });
    try {
      await pty.see(/bypass permissions|\? for shortcuts|Try "/);
      pty.send('do it');
      await new Promise((resolve) => setTimeout(resolve, 500));
      pty.send('\r');
      await pty.see(/Finished the work/);
      pty.send('/exit');
      await new Promise((resolve) => setTimeout(resolve, 500));
      pty.send('\r');
      await answer(pty, 'y\r');
      expect(await pty.exited).toBe(0);
      expect(status(scene)).toEqual([' M README.md']);
    } finally {
      await standIn.close();
    }
  });
});

it('the example of the contract: each answer once, now and later', async () => {
  await using scene = new Scene();
  const [before, sources] = [scene.fingerprint(), scene.fingerprint('src')];
  const ask = async (words: readonly string[], drive: (pty: Pty) => Promise<void>): Promise<number> => {
    await using pty = scene.pty(words, { columns: 100 });
    await drive(pty);
    return pty.exited;
  };
  const session = ['exec', '--yes', scene.project, '--', 'sh', '-c', exampleScript];
  expect(await ask(session, (pty) => answer(pty, 'n\r'))).toBe(120);
  for (const keys of ['\r', '\u0003', '\u0004']) {
    expect(await ask(['apply'], (pty) => answer(pty, keys))).toBe(120);
  }
  const shown = ask(['apply'], async (pty) => {
    await answer(pty, 'd\r');
    const from = await pty.see(/changed 0/);
    pty.send('q');
    const again = await pty.see(/\[y\/N\/d\/s\/l\/\?\]/, { from });
    pty.send('l\r');
    const listed = await pty.see(/three\.txt/, { from: again });
    pty.send('q');
    await pty.see(/\[y\/N\/d\/s\/l\/\?\]/, { from: listed });
    pty.send('n\r');
  });
  expect(await shown).toBe(120);
  expect(scene.fingerprint()).toBe(before);

  expect((await scene.run(['apply', '--yes'])).status).toBe(121);
  expect(status(scene)).toEqual(exampleChanges.filter((line) => line !== ' M Makefile'));
  await ask(['undo'], async (pty) => {
    await pty.see(/Take back 1[0-9] files\? \[y\/N\]/);
    pty.send('y\r');
  });
  expect(status(scene)).toEqual([]);
  expect(scene.fingerprint('src')).toBe(sources);

  await ask(['apply'], (pty) => answer(pty, 'discard\r'));
  expect((await scene.run(['apply', '--yes'])).status).not.toBe(0);
  expect(status(scene)).toEqual([]);
});

it('two sessions of one project run at once and both are applied', async () => {
  await using scene = new Scene();
  const [one, two] = await Promise.all([
    scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', 'echo one > one.txt; sleep 1']),
    scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', 'echo two > two.txt; sleep 1']),
  ]);
  expect([one.status, two.status]).toEqual([0, 0]);
  expect(status(scene)).toEqual(['?? one.txt', '?? two.txt']);
});

it('pipes stdin in and binary output out', async () => {
  await using scene = new Scene();
  const result = await scene.run(['exec', scene.project, '--', 'cat'], { input: 'line one\nline two' });
  expect(result.stdout).toBe('line one\nline two');
  expect(result.status).toBe(0);
});

it('keeps modes, times, links and odd names both ways', async () => {
  await using scene = new Scene();
  scene.write('run.sh', '#!/bin/sh\n', 0o755);
  scene.write('with\nnewline, comma: colon 🙂', 'odd\n');
  chmodSync(path.join(scene.project, 'src'), 0o750);
  const result = await scene.run([
    'exec',
    '--auto-apply',
    scene.project,
    '--',
    'sh',
    '-c',
    'stat -c "%a" run.sh src; cat with*; chmod 700 README.md; ln -s src docs-link; mkdir empty',
  ]);
  expect(result.stdout).toBe('755\n750\nodd\n');
  expect(statSync(path.join(scene.project, 'README.md')).mode & 0o777).toBe(0o700);
  expect(existsSync(path.join(scene.project, 'empty'))).toBe(true);
});

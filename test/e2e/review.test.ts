import { chmodSync, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
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

describe('the example of the contract, each answer once', () => {
  let scene: Scene | undefined;
  afterEach(async () => {
    await scene?.[Symbol.asyncDispose]();
    scene = undefined;
  });

  const start = (): { scene: Scene; pty: Pty; hooks: string } => {
    scene = new Scene();
    const pty = scene.pty(['exec', '--yes', scene.project, '--', 'sh', '-c', exampleScript], { columns: 100 });
    return { scene, pty, hooks: path.join(scene.project, '.git', 'hooks', 'pre-commit') };
  };

  it.each([
    ['n', 'n\r'],
    ['Enter', '\r'],
    ['Ctrl-C', '\u0003'],
    ['end of input', '\u0004'],
  ])('%s: everything is kept for later, exit 120, and can be applied then', async (name, keys) => {
    const { scene, pty } = start();
    const before = scene.fingerprint();
    await answer(pty, keys);
    expect(await pty.exited).toBe(120);
    expect(scene.fingerprint()).toBe(before);
    if (name !== 'n') return;
    const applied = await scene.run(['apply', '--yes']);
    expect(applied.status).toBe(121);
    expect(status(scene)).toEqual(exampleChanges.filter((line) => line !== ' M Makefile'));
  });

  it('d and l show and ask again; discard takes the whole word', async () => {
    const { scene, pty } = start();
    const before = scene.fingerprint();
    await answer(pty, 'd\r');
    const from = await pty.see(/changed 0/);
    pty.send('q');
    await pty.see(/\[y\/N\/d\/s\/l\/\?\]/, { from });
    pty.send('l\r');
    const listed = await pty.see(/three\.txt/, { from });
    pty.send('q');
    await pty.see(/\[y\/N\/d\/s\/l\/\?\]/, { from: listed });
    pty.send('discard\r');
    await pty.exited;
    expect(scene.fingerprint()).toBe(before);
    expect((await scene.run(['apply', '--yes'])).status).not.toBe(0);
    expect(scene.fingerprint()).toBe(before);
  });
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

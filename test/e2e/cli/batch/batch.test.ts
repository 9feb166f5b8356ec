import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBatchScene, runJson, sessionsOf, startTaskModel, writeTasks } from '../../../support/batch-scene.ts';
import type { Scene } from '../../../support/scene.ts';
import type { StandIn } from '../../../support/stand-in/messages-api.mjs';

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startTaskModel();
});
afterAll(() => standIn.close());

const openScene = (): Scene => openBatchScene(standIn);

it('runs a task next to one that fails, and a second run repeats neither', async () => {
  await using scene = openScene();
  const file = writeTasks(scene, 'RUN:echo a > a.txt', 'FAIL');
  const first = await scene.run(['batch', '--jobs', '2', file]);
  expect(first.status).toBe(120);
  expect(first.stdout).toMatch(/^ {3}1 {2}pending/m);
  expect(first.stdout).toMatch(/^ {3}2 {2}failed: the agent ended/m);
  const again = await runJson(scene, file);
  expect(again.tasks.map(({ result, files }) => [result, files])).toEqual([
    ['done', 1],
    ['failed', 0],
  ]);
  expect(sessionsOf(scene)).toHaveLength(2);
});

it('refuses a file before any session starts, and plans without starting', async () => {
  await using scene = openScene();
  const file = writeTasks(scene, 'RUN:true', { prompt: 'a', project: '/no/such/folder' });
  const refused = await scene.run(['batch', file]);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('line 2: ')]);
  expect((await scene.run(['batch', writeTasks(scene, { prompt: 'a', memory: '1x' })])).status).toBe(2);
  const noLogin = await scene.run(['batch', writeTasks(scene, 'a', 'b')], { env: { ANTHROPIC_API_KEY: '' } });
  expect(noLogin.stderr.match(/there is no login/g)).toHaveLength(1);
  for (const jobs of ['0', '1000', 'many'])
    expect((await scene.run(['batch', '--dry-run', '--jobs', jobs, file])).stderr).toContain('Write a whole number');
  // The word of a task's process is for a batch alone.
  const byHand = await scene.run(['run-task']);
  expect([byHand.status, byHand.stderr]).toEqual([2, expect.stringContaining("'run-task' is neither a command nor")]);
  const batches = (): string[] => {
    const dir = path.join(scene.places().stateDir, 'batches');
    return existsSync(dir) ? readdirSync(dir) : [];
  };
  const before = batches();
  await using pty = scene.pty(['batch', '-'], { columns: 80, rows: 24 });
  await pty.see(/Reading tasks: one prompt on each line/);
  pty.send('\u0003');
  expect(await pty.exited).toBe(130);
  expect(batches()).toEqual(before);
  const planned = await scene.run(['batch', '--dry-run', '-'], { input: 'first\nsecond\n' });
  expect([planned.status, planned.stdout]).toEqual([0, '   1  start: first\n   2  start: second\n']);
  expect(sessionsOf(scene)).toEqual([]);
});

it('batch --review asks about the pending sessions of the project, one after the other', async () => {
  await using scene = openScene();
  for (const name of ['one', 'two', 'three'])
    expect((await scene.run(['exec', '--', 'sh', '-c', `echo ${name} > ${name}.txt`])).status).toBe(120);
  const [three, two, one] = sessionsOf(scene).map(({ id }) => id);
  const refused = await scene.run(['batch', '--review']);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('asks on a terminal')]);
  const none = await scene.run(['batch', '--review', 'no-such-file']);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('there is no such file')]);
  await using pty = scene.pty(['batch', '--review']);
  let from = 0;
  for (const [at, [id, answer]] of [
    [one, 'y'],
    [two, 'n'],
    [three, 'y'],
  ].entries()) {
    from = await pty.see(new RegExp(`Session ${at + 1} of 3: ${id}`), { from });
    from = await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/, { from });
    await new Promise((resolve) => setTimeout(resolve, 700));
    pty.send(`${answer}\r`);
  }
  expect(await pty.exited).toBe(120);
  expect(pty.output).toContain('1 of 3 sessions are still pending.');
  expect(scene.git('status', '--porcelain')).toBe('?? one.txt\n?? three.txt\n');
  // A review on a terminal names the next pending session: none, after the last one.
  await using last = scene.pty(['discard', two as string]);
  await last.see(/Type 'discard'/);
  await new Promise((resolve) => setTimeout(resolve, 700));
  last.send('discard\r');
  expect(await last.exited).toBe(0);
  expect(last.output).not.toContain('pending');
});

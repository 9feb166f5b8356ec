import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBatchScene, sessionsOf, startTaskModel } from '../../../support/batch-scene.ts';
import { sessionObjects } from '../../../support/engine.ts';
import type { Scene } from '../../../support/scene.ts';
import type { StandIn } from '../../../support/stand-in/messages-api.mjs';

let model: StandIn;
let scene: Scene;

const recordOf = (id: string) => sessionsOf(scene).find((one) => one.id === id);

beforeAll(async () => {
  model = await startTaskModel();
  scene = openBatchScene(model);
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await model.close();
});

test('a session of a terminal that was closed is shown on others, of other sizes, and survives its keeper', async () => {
  const options = ['--shell', '--bg', '--copy'];
  let id: string;
  {
    await using asking = scene.pty(options);
    await asking.see(/START_UNANSWERED.*--yes/s);
    expect(await asking.exited).toBe(2);
    await using first = scene.pty([...options, '--yes']);
    const at = await first.see(/Show it here: run-claude attach/);
    id = /attach (\S+)/.exec(first.output.slice(at - 20))?.[1] ?? '';
    expect(await first.exited).toBe(0);
  }
  {
    await using narrow = scene.pty(['attach', id], { columns: 80, rows: 24 });
    await narrow.see(/workspace\$/);
    narrow.send('echo "$(tput cols)" mark$((1 + 1)); echo x > made.txt\r');
    await narrow.see(/80 mark2/);
    narrow.send('\x10\x11');
    await narrow.see(/Session \S+ runs on/);
    expect(await narrow.exited).toBe(0);
  }
  const closed = scene.pty(['attach', id], { columns: 100, rows: 30 });
  // What it printed before is on the screen again.
  await closed.see(/80 mark2/);
  // The agent's terminal has the new size once the engine has passed it on.
  await closed.press('\x15echo "$(tput cols)" mark$((1 + 2))\r', /100 mark3/);
  await closed[Symbol.asyncDispose]();
  expect(recordOf(id)?.stage).toBe('running');

  const waiting = scene.run(['wait', id]);
  process.kill(recordOf(id)?.owner?.pid ?? 0, 'SIGKILL');
  const waited = await waiting;
  expect(waited.status, waited.stderr).toBe(120);
  expect(recordOf(id)?.stage).toBe('pending');
  expect((await scene.run(['diff', '--name-only', id])).stdout).toContain('made.txt');
  expect((await scene.run(['attach', id])).status).toBe(120);
  expect(sessionObjects(id)).toEqual([]);
});

test('one that prints ends by itself, and has its output, its log and its status', async () => {
  const told = path.join(scene.root, 'told');
  const program = path.join(scene.root, 'my-notify');
  writeFileSync(program, `#!/bin/sh\necho "$*" >>'${told}'\n`, { mode: 0o755 });
  mkdirSync(path.join(scene.root, 'config/run-claude'), { recursive: true });
  writeFileSync(path.join(scene.root, 'config/run-claude/config.toml'), `notify = ["${program}", "--mine"]\n`);
  const started = await scene.run(['-p', 'RUN:echo hi > hi.txt', '--background', '--yes']);
  expect(started.status, started.stderr).toBe(0);
  const id = started.stdout.trim();
  const waited = await scene.run(['wait', '--any', id]);
  expect([waited.status, waited.stdout]).toEqual([120, `${id}\n`]);
  expect((await scene.run(['log', id, '--output'])).stdout).toContain('Done.');
  expect(readFileSync(told, 'utf8')).toBe(`--mine ${id} end pending ${scene.project}\n`);
  const log = (await scene.run(['logs', id])).stdout;
  expect(log).toMatch(/ start {4}Claude, copy mode\n/);
  expect(log).toMatch(/ claimed {2}prompt: RUN:echo hi > hi\.txt\n/);
  expect(log).toMatch(/ claimed {2}tool: Bash: echo hi > hi\.txt\n/);
  expect(log).toMatch(/ files {4}1 created\n/);
  expect(existsSync(path.join(scene.project, 'hi.txt'))).toBe(false);
});

test('one that has ended before it could be shown has started all the same', async () => {
  const started = await scene.run(['exec', '--bg', '--yes', '--copy', '--', 'sh', '-c', 'echo d > d.md']);
  expect(started.status, started.stderr).toBe(0);
  const id = started.stdout.trim();
  expect((await scene.run(['wait', id])).status).toBe(120);
  expect((await scene.run(['diff', '--name-only', id])).stdout).toContain('d.md');
});

test('stop ends one, with its own status, and nothing is left', async () => {
  const { stdout } = await scene.run(['exec', '--bg', '--yes', '--auto-apply', '--', 'sleep', '600']);
  const id = stdout.trim();
  expect((await scene.run(['stop', id])).status).toBe(0);
  expect((await scene.run(['wait', id])).status).toBe(143);
  expect(sessionObjects(id)).toEqual([]);
  const { sessionDir } = recordOf(id)?.plan ?? { sessionDir: '' };
  expect(readdirSync(sessionDir)).not.toContain('door');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBatchScene, startTaskModel } from '../../../support/batch-scene.ts';
import type { Scene } from '../../../support/scene.ts';
import type { StandIn } from '../../../support/stand-in/messages-api.mjs';

let model: StandIn;
let scene: Scene;

beforeAll(async () => {
  model = await startTaskModel();
  scene = openBatchScene(model);
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await model.close();
});

test('top shows sessions as they change, and starts their commands', async () => {
  const pending = await scene.run(['exec', '--yes', '--copy', '--', 'sh', '-c', 'echo d > d.md']);
  const [pendingId = ''] = /\d{6}-\d{6}-\w+/.exec(pending.stderr) ?? [];
  const { stdout } = await scene.run(['exec', '--bg', '--yes', '--copy', '--', 'sleep', '600']);
  const id = stdout.trim();

  await using top = scene.pty(['top'], { columns: 80, rows: 24 });
  await top.see(/run-claude top: 2 sessions, 1 running/);
  await top.see(new RegExp(`${pendingId} exec pending`));
  top.resize(100, 30);
  let from = top.output.length;
  await top.see(/─{100}/);
  top.send('/sleep\r');
  await top.see(/1 session, 1 running, filter: sleep/, { from });
  from = top.output.length;
  top.send('s');
  await top.see(/Stop session \S+ Its changes are kept/, { from });
  top.send('y');
  await top.see(/0 running/, { from });
  expect((await scene.run(['wait', id])).status).toBe(143);
  from = top.output.length;
  top.send('\x1b');
  await top.see(new RegExp(pendingId), { from });
  top.send('/d.md\r');
  await top.see(/filter: d\.md/, { from });
  top.send('\r');
  from = await top.see(/Apply changes to/, { from });
  top.send('y\r');
  await top.see(/Enter shows the overview again/, { from });
  top.send('\r');
  await top.see(/0 sessions, 0 running/, { from });
  top.send('\x1b');
  top.send('q');
  expect(await top.exited).toBe(0);
  // The terminal is as it was.
  expect(top.output).toMatch(/\x1b\[\?25h\x1b\[\?1049l\s*$/);
});

test('without a terminal it says what to use, which prints a line a state', async () => {
  const refused = await scene.run(['top']);
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('run-claude sessions --watch')]);
  await using watch = scene.pty(['sessions', '--watch']);
  const { stdout } = await scene.run(['exec', '--bg', '--yes', '--copy', '--', 'sh', '-c', 'sleep 3; echo e > e.md']);
  const id = stdout.trim();
  await watch.see(new RegExp(`${id} working`));
  await watch.see(new RegExp(`${id} pending 1 file`));
  watch.send('\x03');
  await watch.exited;
});

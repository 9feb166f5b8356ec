import { once } from 'node:events';
import { expect, it } from 'vitest';
import { sessionObjects } from '../engine.ts';
import { Scene } from '../scene.ts';
import { sees } from '../sees.ts';

it.each([
  ['INT', 130],
  ['TERM', 143],
] as const)('SIG%s before the agent runs: it never does, and nothing is left', async (signal, status) => {
  await using scene = new Scene();
  await scene.run(['exec', '.', '--', 'true']);
  // What is said at the start, while staging, and when the containers are made.
  for (const moment of ['works on', 'Not carried into', '/containers/create: 201', '/start: 204']) {
    const child = scene.spawn(['exec', '--trace', '.', '--', 'sh', '-c', 'echo ran; sleep 300']);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await sees(child, moment);
    child.kill(`SIG${signal}`);
    const [code] = await once(child, 'close');
    // Once a container has been started, the program may have been quicker than the signal.
    const ran = moment === '/start: 204' ? expect.any(String) : '';
    expect([moment, code, output]).toEqual([moment, status, ran]);
  }
  const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { id: string }[];
  expect(sessions.flatMap(({ id }) => sessionObjects(id))).toEqual([]);
});

it('a build of the image ends with Ctrl-C, and the image that is there stays', async () => {
  await using scene = new Scene();
  const child = scene.spawn(['build', '--rebuild', '--trace']);
  await sees(child, '/build: 200');
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  expect(code).toBe(130);
  expect((await scene.run(['exec', '.', '--', 'true'])).status).toBe(0);
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { unprovenName } from '../../../../src/environment/image/proven.ts';
import { sessionObjects } from '../../../support/engine.ts';
import { Pty } from '../../../support/pty.ts';
import { mainJs, Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';
import { openUnbuildingSocket } from '../../../support/unbuilding-socket.ts';

it.each([
  ['INT', 130],
  ['TERM', 143],
] as const)('SIG%s before the agent runs: it never starts, and nothing is left behind', async (signal, status) => {
  await using scene = new Scene();
  await scene.run(['exec', '.', '--', 'true']);
  // Messages at the start, while staging, and when the containers are created.
  for (const moment of ['works on', "Left out of the copy's git", '/containers/create: 201', '/start: 204']) {
    const child = scene.spawn(['exec', '--trace', '.', '--', 'sh', '-c', 'echo ran; sleep 300']);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await waitForOutput(child, moment);
    child.kill(`SIG${signal}`);
    const [code] = await once(child, 'close');
    // Once a container has been started, the program may have been quicker than the signal.
    const ran = moment === '/start: 204' ? expect.any(String) : '';
    expect([moment, code, output]).toEqual([moment, status, ran]);
  }
  const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { id: string }[];
  expect(sessions.flatMap(({ id }) => sessionObjects(id))).toEqual([]);
});

it('Ctrl-C ends a build of the image and keeps the existing image; --rebuild builds once, next to a gc', async () => {
  await using scene = new Scene();
  const child = scene.spawn(['build', '--rebuild', '--trace']);
  await waitForOutput(child, '/build: 200');
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  expect(code).toBe(130);

  // The stand-in for a build makes no image: this one is attacked in its place.
  const tag = (await scene.run(['build'])).stdout.trim();
  execFileSync('docker', ['tag', tag, unprovenName(tag)]);
  const engine = await openUnbuildingSocket(scene.root);
  const rebuilt = scene.spawn(['exec', '--rebuild', '.', '--', 'true'], undefined, { DOCKER_HOST: engine.host });
  const ended = once(rebuilt, 'close');
  await waitForOutput(rebuilt, 'Attacking a container');
  // As gc of another process does, for which an image of an earlier hour is one that a build left behind.
  execFileSync('docker', ['rmi', unprovenName(tag)]);
  const [status] = await ended;
  engine.close();
  expect([status, engine.builds()]).toEqual([0, 1]);
  removeFirstSteps();
});

/** What a build left that came no further than to the first layer; one of another that is there just now is in use. */
function removeFirstSteps(): void {
  const stages = 'docker images -q -f dangling=true -f label=run-claude.image=stage';
  const onlyBase = "docker image inspect -f '{{len .RootFS.Layers}} {{.Id}}' | sed -n 's/^1 //p'";
  const script = `${stages} | xargs -r ${onlyBase} | xargs -r docker image rm`;
  execFileSync('sh', ['-c', `${script} || true`], { stdio: 'ignore' });
}

it('SIGTERM at the question before the start: nothing starts, status 143, and no session is left', async () => {
  await using scene = new Scene();
  const argv = [process.execPath, mainJs, '--copy-workspace', '--shell', '.'];
  await using pty = new Pty(argv, { cwd: scene.project, env: scene.env });
  await pty.see(/Start the session\? \[Y\/n\/\?\]:/);
  const [inside = ''] = readFileSync(`/proc/${pty.pid}/task/${pty.pid}/children`, 'utf8').split(' ');
  process.kill(Number(inside), 'SIGTERM');
  expect(await pty.exited).toBe(143);
  expect((await scene.run(['sessions'])).stderr).toBe('[sandbox] There are no sessions.\n');
});

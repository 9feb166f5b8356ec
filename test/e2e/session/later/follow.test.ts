import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { mainJs, Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';

it('status and diff --follow show a running session’s changes, ignored output by directory, git’s own files not at all', async () => {
  await using scene = new Scene();
  scene.write('.gitignore', 'node_modules/\n');
  const work = `mkdir -p node_modules/p .git/objects/zz && cd node_modules/p && touch $(seq 300) && cd ../..
    touch .git/objects/zz/$(seq -s _ 20); echo work > src/made.txt; rm log.txt; echo ready; read -r line; echo more > z.txt; read -r line`;
  const session = spawn(process.execPath, [mainJs, 'exec', scene.project, '--', 'sh', '-c', work], {
    cwd: scene.project,
    env: scene.env,
  });
  const ended = new Promise((resolve) => session.once('close', resolve));
  await waitForOutput(session, 'ready');

  const status = JSON.parse((await scene.run(['status', '--json'])).stdout);
  expect(status.changes.map(({ path, kind }: { path: string; kind: string }) => `${kind} ${path}`)).toEqual([
    'deleted log.txt',
    'created src/made.txt',
  ]);
  expect(status.ignored).toEqual([{ directory: 'node_modules', entries: 302, bytes: 0 }]);
  expect((await scene.run(['status'])).stdout).toContain('ignored: node_modules (302 ignored entries, 0 B)');

  const follow = scene.spawn(['diff', '--follow', '--json']);
  const followed = new Promise((resolve) => follow.once('close', resolve));
  let output = '';
  follow.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await expect.poll(() => output).toContain('src/made.txt');
  // Another one, whose reader leaves: it ends with the next line that it has to say.
  const unread = scene.spawn(['diff', '--follow']);
  const left = once(unread, 'exit');
  await waitForOutput(unread, 'src/made.txt');
  unread.stdout?.destroy();
  session.stdin.write('go on\n');
  expect(await left).toEqual([0, null]);
  await expect.poll(() => output).toContain('z.txt');
  // The session's end is the end of it.
  session.stdin.end('end\n');
  await Promise.all([ended, followed]);
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'deleted log.txt',
    'created src/made.txt',
    'ignored node_modules',
    'created z.txt',
  ]);
});

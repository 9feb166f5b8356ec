import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const lines = (first: string, last: string): string =>
  [first, ...Array.from({ length: 8 }, (_, i) => `line ${i}`), last, ''].join('\n');

/** Every name, kind, mode, size, time, target and byte of what the session sees. */
const DIGEST = `{ find . -printf '%p %y %m %s %T@ %l\\n' | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; } | sha256sum`;

it('the user checks out another branch, edits and deletes during a session: its view does not change, and apply merges three sides', async () => {
  await using scene = new Scene();
  const at = (name: string): string => path.join(scene.project, name);
  scene.write('merge.txt', lines('first', 'last'));
  scene.write('clash.txt', 'one\n');
  scene.write('gone.txt', 'gone\n');
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'base');
  scene.git('checkout', '-q', '-b', 'other');
  scene.write('log.txt', 'of the other branch\n');
  rmSync(at('src/file1.txt'));
  scene.write('only-there/new.txt', 'new\n');
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'other');
  scene.git('checkout', '-q', 'main');

  const wait = 'until [ -e /tmp/go ]; do sleep 0.1; done';
  const work = `sed -i 's/^last$/last, by the session/' merge.txt; echo session > clash.txt; echo s >> gone.txt
    echo session >> src/file2.txt; echo made > made.txt; rm src/file3.txt`;
  const script = `${DIGEST}; touch /tmp/seen; ${wait}; ${DIGEST}; ${work}`;
  const session = scene.run(['exec', scene.project, '--', 'bash', '-c', script]);
  const inside = (...argv: readonly string[]): boolean => {
    const list = ['ps', '-q', '--filter', `label=run-claude.session=${id}`, '--filter', `name=^run-claude-${id}$`];
    if (id === undefined || execFileSync('docker', list, { encoding: 'utf8' }) === '') return false;
    return spawnSync('docker', ['exec', `run-claude-${id}`, ...argv]).status === 0;
  };
  let id: string | undefined;
  for (const end = Date.now() + 180_000; !inside('test', '-e', '/tmp/seen'); await sleep(200)) {
    expect(Date.now()).toBeLessThan(end);
    const running = (await scene.run(['status', '--json'])).stdout;
    if (running.startsWith('{')) id = (JSON.parse(running) as { id?: string }).id;
  }
  scene.git('checkout', '-q', 'other');
  scene.write('merge.txt', lines('first, by the person', 'last'));
  scene.write('clash.txt', 'person\n');
  rmSync(at('gone.txt'));
  rmSync(at('src/file4.txt'));
  expect(inside('touch', '/tmp/go')).toBe(true);
  const { stdout, status } = await session;
  expect(status).toBe(120);
  const digests = stdout.trim().split('\n');
  expect(digests).toHaveLength(2);
  expect(digests[0]).toMatch(/^[0-9a-f]{64} /);
  expect(digests[1]).toBe(digests[0]);

  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status).toBe(122);
  // Only the session changed these.
  expect(readFileSync(at('made.txt'), 'utf8')).toBe('made\n');
  expect(readFileSync(at('src/file2.txt'), 'utf8')).toMatch(/third line\nsession\n$/);
  // Different lines: neither is lost only when what both began with is the third side.
  expect(readFileSync(at('merge.txt'), 'utf8')).toBe(lines('first, by the person', 'last, by the session'));
  // Both sides changed these: the user's version stays.
  expect(readFileSync(at('clash.txt'), 'utf8')).toBe('person\n');
  const names = scene.git('status', '--porcelain').split('\n').filter(Boolean).sort();
  // Nothing of the session's base branch came back.
  expect(names).toEqual([
    ' D gone.txt',
    ' D src/file3.txt',
    ' D src/file4.txt',
    ' M clash.txt',
    ' M merge.txt',
    ' M src/file2.txt',
    '?? made.txt',
  ]);
  const left = await scene.run(['apply', '--yes']);
  expect(left.status).toBe(122);
  for (const { stderr } of [applied, left])
    expect(stderr.split('\n').filter((line) => line.startsWith('[sandbox] conflict: '))).toEqual([
      '[sandbox] conflict: clash.txt (the same lines were changed on the host)',
      '[sandbox] conflict: gone.txt (deleted on the host)',
    ]);
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ownerOf } from '../../../../src/engines/engine/connect.ts';
import { runGc } from '../../../../src/session/later/gc/gc.ts';
import { connectForTest } from '../../../support/engine.ts';
import { Scene } from '../../../support/scene.ts';
import { SecondEngine } from '../../../support/second-engine.ts';
import { waitForOutput } from '../../../support/sees.ts';

it('pending changes survive an engine that stops during a session and is then pruned', async () => {
  await using engine = new SecondEngine();
  await engine.start();
  await engine.bringImage();
  await using scene = new Scene({ env: { DOCKER_HOST: engine.host } });
  const before = scene.fingerprint();

  // The engine is restarted while the agent works.
  const child = scene.spawn(['exec', scene.project, '--', 'sh', '-c', 'echo work > work.txt; echo ready; sleep 900']);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await waitForOutput(child, 'ready');
  // The reader starts next to the agent: with it the session's changes are collected although the engine has stopped.
  await expect.poll(() => engine.docker('ps', '-q', '--filter', 'name=-collector')).not.toBe('');
  expect((await scene.run(['status', '--json'])).stdout).toContain('work.txt');
  await engine.stop();
  expect(await ended).not.toBe(0);
  expect(output).toMatch(/pending in session|was cut off|stopped answering/);
  await engine.start();
  expect((await scene.run(['diff', '--name-only'])).stdout).toBe('work.txt\n');

  // Objects that the session could not remove: removed two hours later, the pending changes kept.
  const kept = (): string =>
    [
      ['ps', '-a'],
      ['volume', 'ls'],
      ['network', 'ls'],
    ]
      .map((words) => engine.docker(...words, '-q', '--filter', 'label=run-claude.session'))
      .join('');
  expect(kept()).not.toBe('');
  const places = scene.places();
  const connected = await connectForTest(ownerOf(places.stateDir), scene.env);
  const nowMs = Date.now() + 2 * 60 * 60_000;
  expect((await runGc({ places, engine: connected, nowMs, currentImages: [] })).problems).toEqual([]);
  await connected.close();
  expect(kept()).toBe('');

  // Everything that the engine holds and nothing runs on goes, volumes and all.
  engine.docker('system', 'prune', '-af', '--volumes');
  expect(scene.fingerprint()).toBe(before);
  const applied = await scene.run(['apply', '--yes']);
  expect([applied.status, applied.stderr]).toEqual([0, expect.stringContaining('Applied 1 of 1')]);
  expect(readFileSync(path.join(scene.project, 'work.txt'), 'utf8')).toBe('work\n');
});

it('a disk that fills up stops the agent while its changes can still be stored; they stay pending', async () => {
  await using scene = new Scene();
  const small = path.join(scene.root, 'small-disk');
  mkdirSync(small);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1000m', 'run-claude-test', small]);
  try {
    const env = { XDG_STATE_HOME: path.join(small, 'state') };
    const script =
      'echo first > first.txt; while :; do dd if=/dev/zero bs=16M count=1 >> filler 2>/dev/null; sleep 0.1; done';
    const result = await scene.run(['exec', scene.project, '--', 'sh', '-c', script], { env });
    expect([result.status, result.stderr]).toEqual([124, expect.stringMatching(/Stopping the agent: .*disk/)]);
    const shown = await scene.run(['diff', '--name-only'], { env });
    expect(shown.stdout).toContain('first.txt');
    const applied = await scene.run(['apply', '--yes', '--only', 'first.txt'], { env });
    expect([applied.status, applied.stderr]).toEqual([0, expect.stringContaining('Applied 1 of')]);
    await scene.run(['discard', '--yes'], { env });
    await scene.run(['gc', '--yes'], { env });
  } finally {
    execFileSync('umount', [small]);
  }
});

it('files that the agent writes into its home count towards the session’s disk limit', async () => {
  await using scene = new Scene();
  const script = 'while :; do dd if=/dev/zero bs=1M count=4 >> "$HOME/filler" 2>/dev/null; sleep 0.1; done';
  const result = await scene.run(['exec', '--disk', '64m', scene.project, '--', 'sh', '-c', script]);
  expect([result.status, result.stderr]).toEqual([124, expect.stringMatching(/Stopping the agent: .*(disk|written)/)]);
});

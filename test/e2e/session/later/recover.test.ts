import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sessionObjects } from '../../../support/engine.ts';
import { Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';

async function killAt(scene: Scene, words: string, script: string): Promise<string> {
  const child = scene.spawn(['exec', scene.project, '--', 'sh', '-c', script]);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, words);
  child.kill('SIGKILL');
  await gone;
  const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  return sessions[0].id;
}

/** Directories of links to this scene's layers. */
const linksTo = (scene: Scene): string[] =>
  readdirSync('/tmp').filter((name) => {
    const link = path.join('/tmp', name, 'u');
    if (!name.startsWith('rc-') || lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
    return readlinkSync(link).startsWith(scene.root);
  });

it('a command killed while staging, running or collecting: the next one continues, and nothing is lost', async () => {
  await using scene = new Scene({ env: { SECRET_OF_MINE: 'value-that-must-not-stay' } });
  const before = scene.fingerprint();

  // While staging: nothing ran, nothing is left.
  const staged = await killAt(scene, "Left out of the copy's git", 'echo never > never.txt');
  const first = await scene.run(['status', staged]);
  expect(first.stderr + first.stdout).toMatch(/failed|no session|nothing/);
  expect(sessionObjects(staged)).toEqual([]);

  // While the agent runs; it keeps running until the next command ends it.
  const running = await killAt(scene, 'ready', 'echo work > work.txt; echo ready; while :; do sleep 0.2; done');
  expect(linksTo(scene)).toHaveLength(1);
  const second = await scene.run(['diff', running, '--name-only']);
  expect(second.stderr).toContain('was cut off');
  expect(second.stdout).toContain('work.txt');
  expect(sessionObjects(running)).toEqual([]);
  expect(linksTo(scene)).toEqual([]);
  expect(existsSync(path.join(scene.env['XDG_STATE_HOME'] ?? '', 'run-claude/sessions', running, 'home'))).toBe(false);

  // While collecting; this time a new session of the project is the next command.
  const collecting = await killAt(scene, 'Reviewing workspace changes', 'echo more > more.txt');
  const third = await scene.run(['exec', '--env', 'SECRET_OF_MINE', scene.project, '--', 'sh', '-c', 'kill -9 $$']);
  expect(third.stderr).toContain(`Session ${collecting} was cut off`);
  expect(third.stderr).toContain(`run-claude apply ${collecting}`);
  expect(third.status).toBe(137);
  expect(scene.fingerprint()).toBe(before);

  // What is pending needs nothing of the engine: neither its restart nor its prune can take anything.
  const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
  for (const id of [running, collecting]) {
    expect(sessionObjects(id)).toEqual([]);
    const applied = await scene.run(['apply', '--yes', id], { env });
    expect([applied.status, applied.stderr]).toEqual([0, expect.stringContaining('Applied 1 of 1')]);
  }
  const text = (name: string): string => readFileSync(path.join(scene.project, name), 'utf8');
  expect([text('work.txt'), text('more.txt')]).toEqual(['work\n', 'more\n']);
  const leaked = execFileSync('sh', ['-c', 'grep -rl value-that-must-not-stay "$1" || true', 'sh', scene.root]);
  expect(leaked.toString()).toBe('');
});

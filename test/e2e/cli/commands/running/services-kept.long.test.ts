import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sessionObjects } from '../../../../support/engine.ts';
import { waitForOutput } from '../../../../support/sees.ts';
import {
  configure,
  httpServer,
  leftOnEngine,
  nodeService,
  sceneWithServices,
} from '../../../../support/service-scene.ts';

/** Adds to its data with each request, and answers with all of it. It ends when it is asked to. */
const COUNTER = `process.on('SIGTERM',()=>process.exit(0));const fs=require('fs');${httpServer(
  8080,
  "{fs.appendFileSync('/data/n','x');return fs.readFileSync('/data/n','utf8')}",
)}`;
const get = ['--', 'curl', '-sS', 'http://counter:8080'];

it('commands of a kept session share its services; resume and explore start them with new data', async () => {
  await using scene = sceneWithServices(nodeService('counter', 8080, COUNTER));
  const id = (await scene.run(['up'])).stdout.trim();
  expect((await scene.run(['exec', '--session', id, ...get])).stdout).toBe('x');
  expect(
    (await scene.run(['exec', '--session', id, '--', 'sh', '-c', `echo x > new.txt; ${get.slice(1).join(' ')}`]))
      .stdout,
  ).toBe('xx');
  await scene.run(['down', id]);
  expect(leftOnEngine(scene)).toEqual([]);
  const explored = await scene.run(['explore', id], { input: `cat new.txt; ${get.slice(1).join(' ')}\n` });
  expect(explored.stdout, explored.stderr).toBe('x\nx');
  expect(leftOnEngine(scene)).toEqual([]);

  const begun = await scene.run(['exec', '--', 'sh', '-c', `echo y > y.txt; ${get.slice(1).join(' ')}`]);
  expect(begun.stdout).toBe('x');
  const resumed = await scene.run(['resume', ...get]);
  expect(resumed.stdout, resumed.stderr).toBe('x');
  expect(leftOnEngine(scene)).toEqual([]);
});

it('a session in bind mode has its services', async () => {
  await using scene = sceneWithServices(nodeService('counter', 8080, COUNTER));
  // Bind mode runs as the project's owner, and refuses root.
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '1000:1000', scene.project]);
  const bound = await scene.run(['exec', '--bind', ...get]);
  expect(bound.stdout, bound.stderr).toBe('x');
  expect(leftOnEngine(scene)).toEqual([]);
});

it('a seed runs once for the same inputs; no session finds what another one changed; gc removes it unused', async () => {
  const seed = 'seed = "curl -sS http://127.0.0.1:8080; cat /seed/db/a.txt >> /data/n"';
  await using scene = sceneWithServices(nodeService('counter', 8080, COUNTER, `${seed}\nfiles = ["db/a.txt"]`));
  scene.write('db/a.txt', 'SEED');
  const volumes = (): string[] => {
    const dir = path.join(scene.places().cacheDir, 'seeds');
    return readdirSync(dir).flatMap((name) => /^([0-9a-f]{32})\.json$/.exec(name)?.[1] ?? []);
  };
  const isThere = (address: string): boolean =>
    execFileSync('docker', ['volume', 'ls', '-q'], { encoding: 'utf8' }).includes(`run-claude-seed-${address}`);
  try {
    const first = await scene.run(['exec', ...get]);
    expect(first.stderr).toContain('Running the seed of the service counter, once');
    expect(first.stdout).toBe('xSEEDx');
    const second = await scene.run(['exec', ...get]);
    expect(second.stderr).not.toContain('Running the seed');
    expect(second.stdout).toBe('xSEEDx');
    scene.write('db/a.txt', 'OTHER');
    expect((await scene.run(['exec', ...get])).stdout).toBe('xOTHERx');
    expect(volumes()).toHaveLength(2);
    expect(volumes().every(isThere)).toBe(true);
    expect(leftOnEngine(scene)).toEqual([]);

    configure(scene, nodeService('counter', 8080, COUNTER, 'seed = "echo no-such-table; exit 4"'));
    const failed = await scene.run(['exec', ...get]);
    expect(failed.status).toBe(125);
    expect(failed.stderr).toMatch(
      /the seed of the service counter failed with status 4:[\s\S]*no-such-table[\s\S]*Check its seed/,
    );
    expect(volumes()).toHaveLength(2);
    const [one = '', other = ''] = volumes();
    execFileSync('touch', ['-d', '40 days ago', path.join(scene.places().cacheDir, 'seeds', `${one}.json`)]);
    const swept = await scene.run(['gc', '--yes']);
    expect(swept.stdout + swept.stderr).toContain(`run-claude-seed-${one}`);
    expect([isThere(one), isThere(other)]).toEqual([false, true]);
  } finally {
    for (const address of volumes()) execFileSync('docker', ['volume', 'rm', '-f', `run-claude-seed-${address}`]);
  }
});

it('Ctrl-C while services get ready, and a killed command, leave no container and no volume', async () => {
  await using scene = sceneWithServices(nodeService('counter', 8080, COUNTER, 'ready = "false"'));
  const waiting = scene.spawn(['exec', '--', 'true']);
  const ended = new Promise((resolve) => waiting.once('close', resolve));
  await waitForOutput(waiting, 'Starting services');
  const isUp = (): boolean =>
    leftOnEngine(scene).some((name) => name.endsWith('companion-service.counter')) &&
    execFileSync('docker', ['ps', '-q', '--filter', 'name=companion-service.counter']).length > 0;
  await expect.poll(isUp).toBe(true);
  waiting.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(leftOnEngine(scene)).toEqual([]);

  configure(scene, nodeService('counter', 8080, COUNTER, 'seed = "sleep 600"'));
  const seeding = scene.spawn(['exec', '--', 'true']);
  const stopped = new Promise((resolve) => seeding.once('close', resolve));
  await waitForOutput(seeding, 'Running the seed');
  await expect.poll(isUp).toBe(true);
  seeding.kill('SIGINT');
  expect(await stopped).toBe(130);
  expect(leftOnEngine(scene)).toEqual([]);

  configure(scene, nodeService('counter', 8080, COUNTER));
  const child = scene.spawn(['exec', '--', 'sh', '-c', 'echo work > work.txt; echo ready; sleep 600']);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'ready');
  child.kill('SIGKILL');
  await gone;
  expect(leftOnEngine(scene)).not.toEqual([]);
  expect((await scene.run(['diff', '--name-only'])).stdout).toContain('work.txt');
  expect(leftOnEngine(scene)).toEqual([]);
  const ids = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { id: string }[];
  expect(ids.flatMap(({ id }) => sessionObjects(id))).toEqual([]);
});

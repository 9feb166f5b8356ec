import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sessionObjects } from '../../../support/engine.ts';
import { Scene } from '../../../support/scene.ts';
import { SecondEngine } from '../../../support/second-engine.ts';
import { waitForOutput } from '../../../support/sees.ts';
import { configure, httpServer, nodeService } from '../../../support/service-scene.ts';

/** Mounts a file system of this size over the directory. */
function mountSmall(dir: string, size: string): Disposable {
  mkdirSync(dir, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'run-claude-test', dir]);
  return { [Symbol.dispose]: () => void execFileSync('umount', ['-l', dir]) };
}

const FILL = 'while :; do dd if=/dev/zero bs=1M count=4 >>filler 2>/dev/null; sleep 0.1; done';

it('a setup that fills the disk is stopped, and one on a full disk does not begin; nothing of either is kept', async () => {
  for (const [size, why] of [
    ['1300m', 'stopped: it wrote more than 64m (--disk)'],
    ['900m', 'has less than 1g of free space, so no setup can run'],
  ] as const) {
    await using scene = new Scene();
    mkdirSync(path.join(scene.root, 'config/run-claude'), { recursive: true });
    configure(scene, `[environment]\nsetup = "echo began; ${FILL}"\n`);
    const cache = path.join(scene.root, 'cache');
    using _ = mountSmall(cache, size);
    const result = await scene.run(['exec', '--disk', '64m', '--', 'touch', 'ran']);
    expect([result.status, result.stderr]).toEqual([125, expect.stringContaining(why)]);
    // Its last lines are shown where it was run.
    expect(result.stderr.includes('ERROR: began')).toBe(size === '1300m');
    const made = path.join(cache, 'run-claude/environments');
    expect(existsSync(made) ? readdirSync(made).filter((name) => !name.endsWith('.lock')) : []).toEqual([]);
    expect(Number(execFileSync('du', ['-sm', cache], { encoding: 'utf8' }).split('\t')[0])).toBeLessThan(50);
  }
});

it('a service that finds the disk of the engine full does not start, and the next one has the space again', async () => {
  await using engine = new SecondEngine();
  const disk = path.join(engine.dir, 'disk.img');
  const data = path.join(engine.dir, 'data');
  mkdirSync(data);
  execFileSync('sh', [
    '-c',
    'truncate -s 1500M "$1" && mkfs.ext4 -q "$1" && mount -o loop "$1" "$2"',
    'sh',
    disk,
    data,
  ]);
  await engine.start();
  await engine.bringImage();
  await using scene = new Scene({ env: { DOCKER_HOST: engine.host } });
  mkdirSync(path.join(scene.root, 'config/run-claude'), { recursive: true });
  const fill = "require('fs').writeFileSync('/data/page', Buffer.alloc(2e9));";
  configure(scene, nodeService('db', 8080, `${fill}${httpServer(8080, '1')}`, 'memory = "4g"'));
  const full = await scene.run(['exec', '--', 'touch', 'ran']);
  expect([full.status, full.stderr]).toEqual([
    125,
    expect.stringMatching(/the service db ended with status 1:[\s\S]*ENOSPC/),
  ]);
  expect(engine.docker('ps', '-aq') + engine.docker('volume', 'ls', '-q')).toBe('');
  configure(scene, nodeService('db', 8080, httpServer(8080, '"served"')));
  const next = await scene.run([
    'exec',
    '--',
    'sh',
    '-c',
    'node -e "fetch(\'http://db:8080\').then(r=>r.text()).then(console.log)"',
  ]);
  expect(next.stdout, next.stderr).toBe('served\n');
});

const MB = 2 ** 20;

/** Writes to a new file until the file system takes no byte more. */
function fill(dir: string): void {
  for (let size = MB, at = 0; size >= 1; ) {
    try {
      writeFileSync(path.join(dir, `filler-${at++}`), Buffer.alloc(size, 1));
    } catch {
      size = size === 1 ? 0 : Math.max(1, Math.floor(size / 16));
    }
  }
}

it('a fast writer on a small disk is stopped while what it wrote can still be collected, and applied', async () => {
  await using scene = new Scene();
  const state = path.join(scene.root, 'state');
  using _ = mountSmall(state, '900m');
  const { bavail, bsize } = statfsSync(state);
  const stopped = await scene.run(['exec', '--yes', '--', 'dd', 'if=/dev/zero', 'of=big', 'bs=1M', 'count=2000']);
  expect(stopped.status, stopped.stderr).toBe(124);
  expect(stopped.stderr).toMatch(/Stopping the agent: (only|it has written) [\d.]+ [MG]B/);
  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status, applied.stderr).toBe(0);
  // The limit, and what is kept for a fast writer.
  expect(statSync(path.join(scene.project, 'big')).size).toBeLessThanOrEqual((bavail * bsize) / 2);
});

it('a session on a full disk whose command was killed is shown and thrown away, and the disk is free again', async () => {
  await using scene = new Scene();
  const state = path.join(scene.root, 'state');
  using _ = mountSmall(state, '900m');
  const used = (): number => Number(execFileSync('du', ['-sm', state], { encoding: 'utf8' }).split('\t')[0]);
  const script = 'dd if=/dev/zero of=big bs=1M count=40 2>/dev/null; echo written; sleep 600';
  const child = scene.spawn(['exec', scene.project, '--', 'sh', '-c', script]);
  const gone = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'written');
  child.kill('SIGKILL');
  await gone;
  const [{ id }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  fill(path.join(state, 'run-claude'));
  const status = await scene.run(['status']);
  expect([status.status, status.stderr]).toEqual([0, expect.stringContaining(`run-claude discard ${id}`)]);
  const apply = await scene.run(['apply', '--yes']);
  expect([apply.status, apply.stderr]).toEqual([125, expect.stringContaining('run-claude discard ID')]);
  expect((await scene.run(['gc', '--yes'])).status).toBe(0);
  const doctor = await scene.run(['doctor']);
  expect(doctor.stdout + doctor.stderr).toContain('0 MB free');
  const start = await scene.run(['exec', '--', 'true']);
  expect([start.status, start.stderr]).toEqual([125, expect.stringContaining('0 MB are free')]);
  const discarded = await scene.run(['discard', '--yes']);
  expect([discarded.status, discarded.stderr]).toEqual([0, expect.stringContaining(`Session ${id} is discarded.`)]);
  expect(sessionObjects(id)).toEqual([]);
  expect(existsSync(path.join(state, 'run-claude/sessions', id, 'layer'))).toBe(false);
  expect(used()).toBeGreaterThan(700);
  execFileSync('sh', ['-c', 'rm -f "$1"/filler-*', 'sh', path.join(state, 'run-claude')]);
  expect(used()).toBeLessThan(20);
  expect(JSON.parse((await scene.run(['sessions', '--json'])).stdout)[0].state).toBe('discarded');
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../support/scene.ts';
import { SecondEngine } from '../support/second-engine.ts';
import { configure, httpServer, nodeService } from '../support/service-scene.ts';

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
    ['700m', 'has less than 1g of free space, so no setup can run'],
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

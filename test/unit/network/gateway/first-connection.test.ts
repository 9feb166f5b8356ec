import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../../support/scene.ts';

// init and the forwarder as they are compiled for the image; only where the forwarder is found differs.

const dir = mkdtempSync(path.join(tmpdir(), 'rc-first-'));
const images = path.join(packageRoot, 'images');
let port: number;

afterAll(() => rmSync(dir, { recursive: true }));

/** init whose forwarder is a script. */
function initWith(name: string, script: string): string {
  const forwarder = path.join(dir, `${name}.sh`);
  writeFileSync(forwarder, `#!/bin/sh\necho $$ >${dir}/pid\n${script}\n`, { mode: 0o755 });
  const init = path.join(dir, name);
  const sources = ['init.c', 'prove.c', 'reach.c'].map((source) => path.join(images, 'init', source));
  execFileSync('cc', ['-O1', '-std=gnu11', `-DFORWARDER="${forwarder}"`, '-o', init, ...sources]);
  return init;
}

/** A program whose first act is a connection: its status, and how long it took with its init, in ms. */
function connectAtOnce(init: string): { status: number | null; tookMs: number } {
  const began = performance.now();
  const words = ['--forward', `${port}=${dir}/nobody`, '--', '/bin/bash', '-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`];
  const { status } = spawnSync(init, words, { stdio: 'ignore' });
  const tookMs = performance.now() - began;
  // In a container it ends with init.
  spawnSync('kill', ['-9', readFileSync(path.join(dir, 'pid'), 'utf8').trim()]);
  return { status, tookMs };
}

beforeAll(async () => {
  execFileSync('cc', ['-O1', '-o', path.join(dir, 'forwarder'), path.join(images, 'forwarder/forwarder.c')]);
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
});

it('a program that connects first of all finds its ports, however slow the forwarder starts', () => {
  const slow = initWith('slow', `sleep 0.4; exec ${dir}/forwarder "$@"`);
  expect(connectAtOnce(slow).status).toBe(0);
});

it('a forwarder that ends at once does not hold the program back', () => {
  const gone = connectAtOnce(initWith('gone', 'exit 1'));
  expect(gone.status).toBe(1);
  expect(gone.tookMs).toBeLessThan(4000);
});

it('a program starts without a forwarder that never listens', () => {
  const deaf = connectAtOnce(initWith('deaf', 'exec sleep 20'));
  expect(deaf.status).toBe(1);
  expect(deaf.tookMs).toBeGreaterThan(4000);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ContainerSpec } from '../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { agentSpec } from '../../../../src/engines/engine/hardening/hardened.ts';
import { PROBES, readProbes } from '../../../../src/engines/engine/hardening/probes.ts';
import { withProof } from '../../../../src/engines/engine/hardening/proof.ts';
import { readSeccompProfile } from '../../../../src/engines/engine/hardening/seccomp.ts';
import { type OciConfig, ociConfig } from '../../../../src/engines/render/oci-config.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';
import { skipUnless } from '../../../support/requirement.ts';

const RUNC = ['/usr/sbin/runc', '/usr/bin/runc'].find((file) => existsSync(file));
const isAble = process.getuid?.() === 0 && RUNC !== undefined;

let engine: Engine;
let dir: string;
let spec: ContainerSpec;

beforeAll(async () => {
  engine = await connectForTest('oci');
  if (!isAble) return;
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-oci-'));
  const image = await testImage(engine);
  unpack(image, path.join(dir, 'rootfs'));
  spec = agentSpec({
    sessionId: '261123-101500-abc',
    image,
    seccomp: await readSeccompProfile(),
    user: '1000:1000',
    argv: [PROBES],
    forwards: [],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' },
    workdir: '/tmp',
    mounts: [],
    network: 'none',
    limits: { memoryMb: 96, cpus: 0, pids: 128, tmpMb: 32 },
    tty: false,
    stdin: 'none',
  });
}, 300_000);

afterAll(async () => {
  await engine.close();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

beforeEach((context) => skipUnless(isAble, 'needs root and runc', context));

/** The image's root, without the programs that no probe runs. */
function unpack(image: string, rootfs: string): void {
  mkdirSync(rootfs);
  const id = execFileSync('docker', ['create', '--network', 'none', image, 'true'], { encoding: 'utf8' }).trim();
  try {
    const script = 'docker export "$1" | tar -x -p -C "$2" --exclude="*/claude" --exclude="usr/share/doc"';
    execFileSync('bash', ['-c', script, 'unpack', id, rootfs]);
  } finally {
    execFileSync('docker', ['rm', id]);
  }
}

/** Runs the bundle, as `config` weakens it. */
function run(of: ContainerSpec, name: string, weaken: (config: OciConfig) => object = (config) => config) {
  const bundle = path.join(dir, name);
  mkdirSync(bundle);
  const { arch } = engine.facts;
  const config = ociConfig({ ...of, name: `run-claude-oci-${name}` }, { rootfs: '../rootfs', arch, volumes: {} });
  writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(weaken(config)));
  const id = `run-claude-oci-${name}-${process.pid}`;
  const words = ['--root', path.join(dir, 'state'), 'run', '--bundle', bundle, id];
  return spawnSync(RUNC ?? '', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 });
}

it('runc runs the bundle, init proves every layer, and no probe gets through', () => {
  const { stdout, stderr, status } = run(withProof(spec), 'whole');
  expect([stderr, status]).toEqual(['', 0]);
  const [first, ...rows] = stdout.split('\n');
  expect(first).toBe('proven');
  const results = readProbes(rows.join('\n'));
  expect(results.filter(({ result }) => result === 'open')).toEqual([]);
  expect(results.filter(({ result }) => result === 'stopped').length).toBeGreaterThan(250);
});

it.each<[string, (config: OciConfig) => object]>([
  ['masked paths', (config) => ({ ...config, linux: { ...config.linux, maskedPaths: [] } })],
  ['read-only paths', (config) => ({ ...config, linux: { ...config.linux, readonlyPaths: [] } })],
  ['seccomp', ({ linux: { seccomp: _, ...linux }, ...config }) => ({ ...config, linux })],
  ['the read-only root', (config) => ({ ...config, root: { ...config.root, readonly: false } })],
  ['process limits', (config) => ({ ...config, process: { ...config.process, rlimits: [] } })],
  ['new privileges', (config) => ({ ...config, process: { ...config.process, noNewPrivileges: false } })],
])('init refuses the bundle without %s', (name, weaken) => {
  const { stdout } = run(withProof(spec), name.replaceAll(' ', '-'), weaken);
  expect(stdout).not.toMatch(/^proven$/m);
  expect(stdout).not.toBe('');
});

it('without seccomp and the proof, the same probes get through', () => {
  const { stdout } = run(spec, 'weak', ({ linux: { seccomp: _, ...linux }, ...config }) => ({ ...config, linux }));
  expect(readProbes(stdout).filter(({ result }) => result === 'open').length).toBeGreaterThan(5);
});

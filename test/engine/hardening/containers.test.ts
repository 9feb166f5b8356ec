import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ContainerSpec } from '../../../src/core/types/engine.ts';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { collectorSpec, gatewaySpec, taskSpec } from '../../../src/engines/engine/hardening/hardened.ts';
import { PROBES, type ProbeRow, readProbes } from '../../../src/engines/engine/hardening/probes.ts';
import { readSeccompProfile } from '../../../src/engines/engine/hardening/seccomp.ts';
import { connectForTest, runToEnd } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { agentLike } from './weakened.ts';

/** Layers that every container has, whatever its role. */
const COMMON = [
  ...['seccomp', 'no new privileges', 'read-only root', 'capabilities', 'namespaces', 'tmpfs options'],
  ...['masked and read-only paths', 'environment allowlist', 'nothing of the host inside'],
];

let engine: Engine;
let parts: { sessionId: string; image: string; seccomp: string };

beforeAll(async () => {
  engine = await connectForTest();
  const sessionId = `test-${randomBytes(4).toString('hex')}`;
  parts = { sessionId, image: await testImage(engine), seccomp: await readSeccompProfile() };
});

afterAll(async () => {
  for (const found of await engine.list(parts.sessionId)) await (await engine.running.find(found.name))?.remove();
  await engine.close();
});

/** Of this file's session, which is removed at the end. */
const agent = async (argv: readonly string[]): Promise<ContainerSpec> => ({
  ...(await agentLike(parts.image, argv)),
  sessionId: parts.sessionId,
});

const printed = async (spec: ContainerSpec): Promise<string> => (await runToEnd(await engine.create(spec))).said;

const names = (rows: readonly ProbeRow[]): readonly string[] =>
  rows.filter((row) => row.result === 'open').map((row) => row.name);

it('a program started by exec in a running container has its layers', async () => {
  const container = await engine.create(await agent(['sleep', '300']));
  await container.start();
  const { stdout, status } = await container.exec([PROBES]);
  await container.remove();
  expect(status).toBe(0);
  const rows = readProbes(stdout.toString());
  expect(rows.length).toBeGreaterThan(300);
  expect(names(rows)).toEqual([]);
});

it('helper containers and the gateway have every layer that their work allows', async () => {
  const task = taskSpec({ ...parts, argv: [PROBES, ...COMMON], user: '1000:1000', mounts: [], stdin: 'none' });
  expect(names(readProbes(await printed(task)))).toEqual([]);
  const gateway = gatewaySpec({
    ...parts,
    argv: [PROBES, ...COMMON],
    user: '2000:2000',
    mounts: [],
    stdin: 'none',
    bridge: 'bridge',
  });
  expect(names(readProbes(await printed(gateway)))).toEqual([]);
});

it('the collector has one capability, which only allows reading', async () => {
  const collector = collectorSpec({ ...parts, argv: [PROBES, ...COMMON], mounts: [], stdin: 'none' });
  const open = names(readProbes(await printed(collector)));
  expect(open.filter((name) => !name.startsWith('read/'))).toEqual(['CapPrm', 'CapEff', 'CapBnd']);
});

it('no process inside can stop or kill PID 1, and the container ends with the agent', async () => {
  const script = 'kill -STOP 1; kill -KILL 1; kill -SEGV 1; sleep 0.3; grep State /proc/1/status; exit 7';
  const container = await engine.create(await agent(['bash', '-c', script]));
  const output = text(container.stdout);
  await container.start();
  expect(await container.wait()).toBe(7);
  await container.remove();
  expect(await output).toMatch(/State:\t[SR]/);
});

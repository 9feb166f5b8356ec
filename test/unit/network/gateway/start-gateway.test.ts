import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialSource } from '../../../../src/core/types/agent/credential.ts';
import type { Container } from '../../../../src/core/types/engine.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { BARE_POLICY, fixedCredential } from '../../../support/gateway-process.ts';

const BROKER = { host: 'api.example.org', header: 'authorization', from: ['echo', 'secret'], methods: ['GET'] };

let sessionDir: string;

beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'rc-gateway-'));
});
afterEach(() => rmSync(sessionDir, { recursive: true, force: true }));

describe('the start of a gateway', () => {
  it('begins to start the container before the credential is known, and sends it nothing until then', async () => {
    const { engine, calls, stdin, stdout } = recordingEngine('podman');
    let give: () => void = () => undefined;
    const known = new Promise<void>((resolve) => {
      give = resolve;
    });
    const starting = begin(engine, async () => {
      await known;
      return { kind: 'api-key', value: 'secret' };
    });
    await expect.poll(() => calls).toContain('start');
    expect(stdin.readableLength).toBe(0);
    give();
    const gateway = await starting;
    await expect.poll(() => stdin.readableLength).toBeGreaterThan(0);
    expect(JSON.parse(String(stdin.read())).secret).toMatchObject({ value: 'secret' });
    stdout.end();
    await gateway.stop();
  });

  it('removes the container, the volume and the network where the credential cannot be read', async () => {
    const { engine, calls } = recordingEngine('podman');
    const starting = begin(engine, async () => {
      await expect.poll(() => calls).toContain('start');
      throw new Error('no credential');
    });
    await expect(starting).rejects.toThrow('no credential');
    expect(calls.slice(-3)).toEqual(['remove', 'remove the volume', 'remove the network']);
  });
});

it('on Docker, the gateway’s container starts after the agent’s', async () => {
  const { engine, calls, stdout } = recordingEngine('docker');
  const gateway = await begin(engine, async () => ({ kind: 'api-key', value: 'secret' }));
  await gateway.prepared;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(calls).not.toContain('start');
  gateway.begin();
  await expect.poll(() => calls).toContain('start');
  stdout.end();
  await gateway.stop();
});

it('a gateway that is stopped before the agent’s container starts is removed without a start', async () => {
  const { engine, calls } = recordingEngine('docker');
  const gateway = await begin(engine, async () => ({ kind: 'api-key', value: 'secret' }));
  await gateway.stop();
  expect(calls).not.toContain('start');
  expect(calls.slice(-3)).toEqual(['remove', 'remove the volume', 'remove the network']);
});

it.each(['agentRuns', 'brokers'] as const)('starts at once for %s, whose program needs it first', async (why) => {
  const { engine, calls, stdout } = recordingEngine('docker');
  const gateway = await begin(engine, async () => ({ kind: 'api-key', value: 'secret' }), why);
  await expect.poll(() => calls).toContain('start');
  stdout.end();
  await gateway.stop();
});

it('on Podman, the agent’s container starts after the gateway’s, which fills the volume', async () => {
  const { engine, calls, container, stdout } = recordingEngine('podman');
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  container.start = () => held;
  const gateway = await begin(engine, async () => ({ kind: 'api-key', value: 'secret' }));
  let isPrepared = false;
  void gateway.prepared.then(() => {
    isPrepared = true;
  });
  await expect.poll(() => calls).toContain('make the network');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isPrepared).toBe(false);
  go();
  await expect.poll(() => isPrepared).toBe(true);
  stdout.end();
  await gateway.stop();
});

it.each(['network', 'container'] as const)(
  'reports a failed %s before the agent’s container may start',
  async (what) => {
    const { engine } = recordingEngine('docker');
    const create = async () => Promise.reject(new Error('no room'));
    const failing =
      what === 'container' ? { ...engine, create } : { ...engine, networks: { ...engine.networks, create } };
    const gateway = await begin(failing, async () => ({ kind: 'api-key', value: 'secret' }));
    await expect(gateway.prepared).rejects.toThrow('no room');
    await expect(gateway.ready).rejects.toThrow('no room');
    await gateway.stop();
  },
);

function begin(engine: Engine, current: CredentialSource['current'], awaitedBy?: 'agentRuns' | 'brokers') {
  const program = { kind: 'exec', argv: ['true'] } as const;
  const policy = awaitedBy === 'brokers' ? { ...BARE_POLICY, brokers: [BROKER] } : BARE_POLICY;
  const plan = { sessionId: 'a', sessionDir, image: 'image', policy, program } as unknown as Plan;
  const credential = { ...fixedCredential('unused'), current };
  return startGateway({
    engine,
    plan,
    credential,
    agentRuns: awaitedBy === 'agentRuns',
    tell: () => undefined,
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
  });
}

/** An engine whose gateway starts and says nothing. */
function recordingEngine(kind: Engine['facts']['kind'] = 'docker') {
  const calls: string[] = [];
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const called = (name: string) => async (): Promise<void> => void calls.push(name);
  const container = {
    ...{ stdin, stdout, stderr, start: called('start') },
    wait: () => new Promise<number>(() => undefined),
    async remove() {
      calls.push('remove');
      stdout.end();
    },
  } as unknown as Container;
  const engine = {
    facts: { kind },
    networks: { create: called('make the network'), remove: called('remove the network') },
    createVolume: called('make the volume'),
    removeVolume: called('remove the volume'),
    create: async () => container,
  } as unknown as Engine;
  return { engine, calls, container, stdin, stdout };
}

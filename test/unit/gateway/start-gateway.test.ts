import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway } from '../../../src/gateway/start-gateway.ts';
import type { CredentialSource } from '../../../src/types/credential.ts';
import type { Container, Engine } from '../../../src/types/engine.ts';
import type { Plan } from '../../../src/types/plan.ts';
import { BARE_POLICY, fixedCredential } from '../../support/gateway-process.ts';

let sessionDir: string;

beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'rc-gateway-'));
});
afterEach(() => rmSync(sessionDir, { recursive: true, force: true }));

describe('the start of a gateway', () => {
  it('begins to start the container before the credential is known, and sends it nothing until then', async () => {
    const { engine, calls, stdin, stdout } = recordingEngine();
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
    const { engine, calls } = recordingEngine();
    const starting = begin(engine, async () => {
      await expect.poll(() => calls).toContain('start');
      throw new Error('no credential');
    });
    await expect(starting).rejects.toThrow('no credential');
    expect(calls.slice(-3)).toEqual(['remove', 'remove the volume', 'remove the network']);
  });
});

function begin(engine: Engine, current: CredentialSource['current']) {
  const program = { kind: 'exec', argv: ['true'] } as const;
  const plan = { sessionId: 'a', sessionDir, image: 'image', policy: BARE_POLICY, program } as unknown as Plan;
  const credential = { ...fixedCredential('unused'), current };
  return startGateway({
    engine,
    plan,
    credential,
    tell: () => undefined,
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
  });
}

/** An engine whose gateway starts and says nothing. */
function recordingEngine() {
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
    createNetwork: called('make the network'),
    removeNetwork: called('remove the network'),
    createVolume: called('make the volume'),
    removeVolume: called('remove the volume'),
    create: async () => container,
  } as unknown as Engine;
  return { engine, calls, stdin, stdout };
}

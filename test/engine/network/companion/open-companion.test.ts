import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { readSeccompProfile } from '../../../../src/engines/engine/hardening/seccomp.ts';
import { type CompanionProgram, openCompanion } from '../../../../src/network/companion/companion.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

const SESSION = `test-${process.pid}-companion`;
let engine: Engine;
let image: string;
let seccomp: string;

beforeAll(async () => {
  engine = await connectForTest();
  [image, seccomp] = [await testImage(engine), await readSeccompProfile()];
});
afterAll(() => engine.close());

const programOf = (script: string, input?: unknown): CompanionProgram => ({
  name: 'box',
  argv: ['/bin/sh', '-c', script],
  env: { PATH: '/usr/bin:/bin' },
  input,
  mounts: [],
  forwards: [],
  limits: { memoryMb: 128, cpus: 1, pids: 32, tmpMb: 8 },
});

it('a companion reads its secret from its input, has its own user and no network, and leaves nothing', async () => {
  const events: SessionEvent[] = [];
  const program = programOf('read line; echo "got $line"; exec sleep 60', { token: 'secret' });
  const companion = await openCompanion(
    engine,
    { sessionId: SESSION, image, seccomp },
    program,
    (one) => void events.push(one),
  );
  await companion.start();
  await expect.poll(() => events).toContainEqual({ kind: 'trace', text: 'box: got {"token":"secret"}' });
  const inside = await companion.exec(['/bin/sh', '-c', 'id -u; ls /sys/class/net'], {
    env: { PATH: '/usr/bin:/bin' },
  });
  expect(String(inside.stdout)).toBe('61000\nlo\n');
  await companion.stop();
  expect(await engine.list(SESSION)).toEqual([]);
  expect(events.filter(({ kind }) => kind === 'message')).toEqual([]);
});

it('a companion that ends is reported, and the session goes on', async () => {
  const events: SessionEvent[] = [];
  const companion = await openCompanion(
    engine,
    { sessionId: SESSION, image, seccomp },
    programOf('exit 7'),
    (one) => void events.push(one),
  );
  await companion.start();
  expect(await companion.ended).toBe(7);
  expect(events).toContainEqual({
    kind: 'message',
    level: 'warning',
    text: 'box has ended (status 7); the session goes on without it',
  });
  await companion.stop();
  expect(await engine.list(SESSION)).toEqual([]);
});

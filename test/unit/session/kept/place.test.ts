import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { processIdentity } from '../../../../src/core/host/processes/process.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { keptDoor } from '../../../../src/session/kept/keep.ts';
import { isUp, removePlace, writePlace } from '../../../../src/session/kept/place.ts';

it('a kept session is up from the opening of its door until the door closes', async () => {
  const sessionDir = mkdtempSync(path.join(tmpdir(), 'kept-place-'));
  const plan = { sessionDir, program: { kind: 'kept' }, policy: {} };
  const record = { id: 'one', stage: 'running', owner: processIdentity(), plan } as unknown as SessionRecord;
  expect(isUp(record)).toBe(false);
  writePlace(sessionDir, '/tmp/s');
  expect(isUp(record)).toBe(true);
  removePlace(sessionDir);
  expect(isUp(record)).toBe(false);
  rmSync(sessionDir, { recursive: true });
});

it('the door of a session that does not open is closed without another failure', async () => {
  const sessionDir = mkdtempSync(path.join(tmpdir(), 'kept-place-'));
  const plan = { sessionDir, program: { kind: 'kept' }, policy: {} } as unknown as SessionRecord['plan'];
  writePlace(sessionDir, '/tmp/of-an-earlier-run');
  const door = keptDoor({} as Engine, plan as never, () => undefined);
  await expect(door.open()).rejects.toThrow();
  expect(isUp({ id: 'one', stage: 'running', owner: processIdentity(), plan } as unknown as SessionRecord)).toBe(false);
  await door.close();
  rmSync(sessionDir, { recursive: true });
});

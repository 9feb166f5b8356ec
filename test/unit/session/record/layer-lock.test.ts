import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findSession } from '../../../../src/session/record/find/find-session.ts';
import { withLayer, withLayerLock } from '../../../../src/session/record/layer-lock.ts';
import { recordSessions } from '../../../support/session-fixture.ts';
import { sessionRecord } from '../../../support/session-record.ts';

it('says what can be done with a session whose copy was removed', async () => {
  const id = '261120-100000-222';
  const state = recordSessions([{ id, stage: 'pending', started: '2026-11-20T10:00:00.000Z', mode: 'bind' }]);
  const gone = withLayer(findSession(state, id, '/p', 'any').record, 'explore', async () =>
    expect.unreachable('it has no copy'),
  );
  const hint = expect.stringContaining('You can still use diff, apply and undo');
  await expect(gone).rejects.toMatchObject({ code: 'LAYER_GONE', hint });
});

it('is held for what runs below its holder, and for nobody else', async () => {
  const sessionDir = mkdtempSync(path.join(tmpdir(), 'run-claude-layer-'));
  onTestFinished(() => rmSync(sessionDir, { recursive: true }));
  const { plan } = sessionRecord({ plan: { sessionDir } });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holder = withLayerLock(plan, 'resuming it', async () => {
    await withLayerLock(plan, 'testing it', async () => undefined);
    expect(existsSync(path.join(sessionDir, 'layer.lock'))).toBe(true);
    await released;
  });
  await expect(withLayerLock(plan, 'exploring it', async () => undefined)).rejects.toMatchObject({ code: 'LOCK_HELD' });
  release();
  await holder;
  expect(existsSync(path.join(sessionDir, 'layer.lock'))).toBe(false);
});

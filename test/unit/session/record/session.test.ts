import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Stage } from '../../../../src/core/types/session.ts';
import { planGc, runGc } from '../../../../src/session/later/gc/gc.ts';
import { findSession } from '../../../../src/session/record/find/find-session.ts';
import { listSessions, reserveSession } from '../../../../src/session/record/session.ts';
import { sessionRecord } from '../../../support/session-record.ts';

/** Sessions of /p that began within one second. */
function sessions(begun: Readonly<Record<string, { readonly ms: number; readonly stage: Stage }>>): string {
  const state = mkdtempSync(path.join(tmpdir(), 'run-claude-record-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  for (const [end, { ms, stage }] of Object.entries(begun)) {
    const id = `261121-140512-${end}`;
    const dir = path.join(state, 'sessions', id);
    mkdirSync(dir, { recursive: true });
    const record = sessionRecord({
      stage,
      started: `2026-11-21T14:05:12.${ms}Z`,
      plan: { sessionId: id, sessionDir: dir },
    });
    writeFileSync(path.join(dir, 'session.json'), JSON.stringify(record));
  }
  return state;
}

it('selects the newest session that produced a result: a failed start does not hide pending changes', () => {
  const waits = { ms: 100, stage: 'pending' } as const;
  const failed = { ms: 300, stage: 'failed' } as const;
  const state = sessions({ k7p: waits, '222': failed });
  expect(findSession(state, undefined, '/p', 'any').record.id).toBe('261121-140512-k7p');
  expect(findSession(state, '222', '/p', 'any').record.id).toBe('261121-140512-222');
  expect(findSession(sessions({ '222': failed }), undefined, '/p', 'any').record.id).toBe('261121-140512-222');
});

it('finds the newest of several sessions that started within one second', () => {
  const stage: Stage = 'pending';
  const state = sessions({ k7p: { ms: 300, stage }, '222': { ms: 900, stage }, zzz: { ms: 100, stage } });
  expect(listSessions(state).sessions.map(({ id }) => id.slice(-3))).toEqual(['222', 'k7p', 'zzz']);
  expect(findSession(state, undefined, '/p', 'any').record.id).toBe('261121-140512-222');
});

it('does not list a start that was killed before its record, and gc removes its directory later', async () => {
  const state = sessions({});
  const [old, young] = [reserveSession(state, 0), reserveSession(state, Date.now())];
  const broken = reserveSession(state, 1_000);
  writeFileSync(path.join(broken.dir, 'session.json'), '{');
  expect(listSessions(state)).toEqual({
    sessions: [],
    unreadable: [{ id: broken.id, project: undefined, error: expect.objectContaining({ code: 'RECORD_DAMAGED' }) }],
    reserved: [old.id, young.id].sort(),
  });
  for (const { dir } of [old, broken]) utimesSync(dir, 0, 0);
  const places = { stateDir: state, cacheDir: state, dataDir: state };
  const options = { places, engine: undefined, nowMs: Date.now(), currentImages: [] };
  expect(await planGc(options)).toEqual([{ kind: 'session', name: old.id, why: 'it never started' }]);
  expect(await runGc(options)).toMatchObject({ problems: [] });
  expect([old, young, broken].map(({ dir }) => existsSync(dir))).toEqual([false, true, true]);
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findSession, listSessions } from '../../../src/session/record.ts';

it('knows the newest of sessions that began within one second', () => {
  const state = mkdtempSync(path.join(tmpdir(), 'run-claude-record-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const begun = { '261121-140512-k7p': '.300', '261121-140512-222': '.900', '261121-140512-zzz': '.100' };
  for (const [id, ms] of Object.entries(begun)) {
    const dir = path.join(state, 'sessions', id);
    mkdirSync(dir, { recursive: true });
    const record = { version: 1, id, project: '/p', started: `2026-11-21T14:05:12${ms}Z` };
    writeFileSync(path.join(dir, 'session.json'), JSON.stringify(record));
  }
  expect(listSessions(state).sessions.map(({ id }) => id.slice(-3))).toEqual(['222', 'k7p', 'zzz']);
  expect(findSession(state, undefined, '/p').id).toBe('261121-140512-222');
});

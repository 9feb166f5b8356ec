import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { processIdentity } from '../../../../src/core/host/processes/process.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { exportSession } from '../../../../src/session/later/export-session.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-export-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const deps = {} as Parameters<typeof exportSession>[2];
const file = path.join(root, 'set.tar');

it.each<[string, SessionRecord, RegExp]>([
  ['runs', sessionRecord({ stage: 'running', owner: processIdentity() }), /is still running/],
  ['was discarded', sessionRecord({ stage: 'discarded' }), /was discarded/],
  ['changed the project itself', sessionRecord({ plan: { mode: 'bind' } }), /changed the project itself/],
  [
    'has no collected changes',
    sessionRecord({ plan: { sessionDir: path.join(root, 'none') } }),
    /nothing was collected/,
  ],
])('refuses to export a session that %s', async (_, record, why) => {
  await expect(exportSession(record, file, deps)).rejects.toThrow(why);
  expect(existsSync(file)).toBe(false);
});

it('writes neither over a file nor into a folder that does not exist', async () => {
  await expect(exportSession(sessionRecord(), root, deps)).rejects.toThrow(/the file exists/);
  await expect(exportSession(sessionRecord(), path.join(root, 'none', 'x'), deps)).rejects.toThrow(/no such folder/);
});

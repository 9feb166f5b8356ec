import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { approvedRequests, rememberRequest } from '../../../../src/session/record/approved-requests.ts';

it('remembers the last requests of each project, and nothing of a damaged record', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-requests-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  expect(approvedRequests(dir, '/p')).toEqual([]);
  for (let i = 0; i < 25; i++) rememberRequest(dir, '/p', `d${i}`);
  rememberRequest(dir, '/p', 'd20');
  expect(approvedRequests(dir, '/p')).toHaveLength(20);
  expect(approvedRequests(dir, '/p').slice(0, 2)).toEqual(['d20', 'd24']);
  expect(approvedRequests(dir, '/q')).toEqual([]);
  const [file] = readdirSync(path.join(dir, 'requests'));
  writeFileSync(path.join(dir, 'requests', file ?? ''), '{"version":1,"digests":"d20"}');
  expect(approvedRequests(dir, '/p')).toEqual([]);
});

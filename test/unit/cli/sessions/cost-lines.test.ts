import { expect, it } from 'vitest';
import { costLines, totalUsage } from '../../../../src/cli/sessions/cost-lines.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';

const NOW_MS = Date.parse('2026-11-29T10:00:00.000Z');
const record = (id: string, usage?: SessionRecord['usage']) =>
  ({
    ...{
      id,
      project: '/home/me/x',
      started: '2026-11-29T09:59:50.000Z',
      plan: { program: { kind: 'shell', args: [] } },
    },
    ...(usage && { usage }),
  }) as unknown as SessionRecord;
const options = { columns: 100, nowMs: NOW_MS, home: '/home/me' };
const SESSIONS = [
  record('261129-095950-abc', { requests: 12, inputTokens: 34_567, outputTokens: 890, costUsd: 0.125 }),
  record('261129-095949-abc', { requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }),
  record('261129-095948-abc'),
  record('261129-095947-xyz', { requests: 3, inputTokens: 1000, outputTokens: 10, costUsd: 1.5 }),
];

it('has a line for each session that asked a provider, and the sums last', () => {
  expect(costLines(SESSIONS, options)).toEqual([
    'session            agent  requests  tokens in  out   cost  started   project',
    '261129-095950-abc  shell        12      34567  890  $0.13  just now  ~/x',
    '261129-095947-xyz  shell         3       1000   10  $1.50  just now  ~/x',
    '2 sessions                      15      35567  900  $1.63',
  ]);
  expect(costLines(SESSIONS, { ...options, columns: 60 }).every((line) => line.length <= 60)).toBe(true);
  expect(costLines(SESSIONS.slice(1, 3), options)).toEqual([]);
});

it('adds what was recorded', () => {
  expect(totalUsage(SESSIONS)).toEqual({
    ...{ sessions: 2, requests: 15, inputTokens: 35_567, outputTokens: 900, costUsd: 1.625 },
  });
});

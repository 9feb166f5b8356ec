import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { reportSchema } from '../../../../src/core/report/schema.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { readOwnReport, writeOwnReport } from '../../../../src/session/end/report/own-report.ts';
import { sessionFacts } from '../../../../src/session/end/report/session-facts.ts';
import { reportOfEnded } from '../../../../src/session/end/report/write-report.ts';
import { sessionRecord } from '../../../support/session-record.ts';

// What the release of that day wrote. It stays as it is: a change that makes it unreadable needs a migration.
const EARLIER = path.join(import.meta.dirname, 'fixtures/report-2026-11-21.json');

/** A bind session that ended, with the earlier report, changed. */
function layBound(change: (report: Record<string, unknown>) => unknown = (report) => report) {
  const sessionDir = mkdtempSync(path.join(tmpdir(), 'run-claude-report-'));
  onTestFinished(() => rmSync(sessionDir, { recursive: true, force: true }));
  const changed = change(JSON.parse(readFileSync(EARLIER, 'utf8')));
  writeFileSync(path.join(sessionDir, 'report.json'), changed === undefined ? '{' : JSON.stringify(changed));
  const plan = { mode: 'bind', project: { root: '/home/ada/shop' }, sessionDir } as unknown as Plan;
  return { sessionDir, record: sessionRecord({ stage: 'applied', plan }) };
}
const noReview = () => expect.unreachable('a bind session has no review');

it('reads the report that an earlier release wrote', async () => {
  const { sessionDir, record } = layBound();
  expect(readOwnReport(sessionDir)).toEqual(JSON.parse(readFileSync(EARLIER, 'utf8')));
  expect(sessionFacts(record)).toMatchObject({ state: 'in-place', files: { total: 3 }, findings: { suspect: 1 } });
});

it('accepts every field of the published schema', async () => {
  const { sessionDir } = layBound();
  const row = { host: 'h', port: 443, passed: 1, refused: 0, failed: 0, bytesOut: 1, bytesIn: 1, why: 'x' };
  const report = reportSchema.parse({
    ...JSON.parse(readFileSync(EARLIER, 'utf8')),
    base: 'main',
    massDeletion: { deleted: 30, of: 40 },
    network: [row],
    files: { total: 3, applied: 1, left: 1, inPart: 0, blocked: 1 },
    outcome: [{ path: 'Makefile', verdict: 'suspect', why: 'x' }],
  });
  writeOwnReport(report, sessionDir);
  expect(readOwnReport(sessionDir)).toEqual(report);
});

it.each<[string, (report: Record<string, unknown>) => unknown, string, string]>([
  ['that is not JSON', () => undefined, 'is not the JSON that was written there', 'Move the file away'],
  ['without its counts', ({ counts: _, ...report }) => report, 'counts is missing', 'Move the file away'],
  [
    'with an unknown state',
    (report) => ({ ...report, changes: [{ path: 'a', kind: 'created', state: 'fine' }] }),
    'changes[0].state is not one of clean',
    'Move the file away',
  ],
  [
    'of a newer release',
    (report) => ({ ...report, version: 2 }),
    'was written by a newer release of run-claude',
    'Update run-claude',
  ],
])(
  'a report %s is refused with what to do, and does not prevent a list of sessions',
  async (_title, change, reason, next) => {
    const { record } = layBound(change);
    const again = () => reportOfEnded(record, noReview);
    await expect(again()).rejects.toThrow(reason);
    await expect(again()).rejects.toThrow(expect.objectContaining({ hint: expect.stringContaining(next) }));
    expect(sessionFacts(record)).toMatchObject({ state: 'in-place', files: undefined });
  },
);

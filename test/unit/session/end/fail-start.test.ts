import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import { rendererFor } from '../../../../src/core/report/render.ts';
import { type Report, reportSchema } from '../../../../src/core/report/schema.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import { failStart } from '../../../../src/session/end/fail-start.ts';
import { reportOfEnded } from '../../../../src/session/end/report/write-report.ts';
import { readCollected, readRecord, updateRecord } from '../../../../src/session/record/session.ts';
import { sessionRecord } from '../../../support/session-record.ts';

function planned() {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-fail-start-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const sessionDir = path.join(root, '261126-100000-abc');
  const plan = { sessionId: '261126-100000-abc', sessionDir, project: { root: '/p' } };
  return updateRecord(sessionRecord({ stage: 'planned', plan }), {});
}

const ERROR = new RunClaudeError('ENGINE_LOST', 'the engine stopped answering', { hint: 'Start it.', status: 125 });
const FAILURE = { code: 'ENGINE_LOST', message: 'the engine stopped answering', hint: 'Start it.' };

it('a start that failed has its reason in the record, in the report and in each command that needs changes', async () => {
  const record = planned();
  const reports: Report[] = [];
  await failStart(record, ERROR, { report: { write: (report) => reports.push(report) }, tell: () => undefined });
  const stored = readRecord(record.plan.sessionDir);
  expect(stored).toMatchObject({ stage: 'failed', failure: FAILURE });
  expect(reports).toEqual([
    expect.objectContaining({
      kind: 'session',
      exitStatus: 125,
      changes: [],
      session: expect.objectContaining({ failure: FAILURE }),
    }),
  ]);
  const later = await reportOfEnded(stored ?? record, () => {
    throw new Error('nothing was collected');
  });
  expect(later.session?.failure).toEqual(FAILURE);
  expect(reportSchema.parse(JSON.parse(rendererFor('x.json')(later))).session?.failure).toEqual(FAILURE);
  expect(rendererFor('x.md')(later)).toContain('failed at its start with ENGINE_LOST, `the engine stopped answering`');
  expect(() => readCollected(record.plan.sessionDir)).toThrow(
    expect.objectContaining({
      code: 'SESSION_FAILED',
      message: expect.stringContaining('ENGINE_LOST: the engine stopped'),
    }),
  );
});

it('a report that cannot be written does not hide why the start failed', async () => {
  const events: SessionEvent[] = [];
  const report = {
    write() {
      throw new Error('disk full');
    },
  };
  expect((await failStart(planned(), ERROR, { report, tell: (event) => events.push(event) })).failure).toEqual(FAILURE);
  expect(events).toEqual([{ kind: 'message', level: 'warning', text: 'The report was not written: disk full' }]);
});

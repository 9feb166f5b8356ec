import type { Choice, Review } from '../../core/types/review.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { findingsAtLeast } from '../../review/choices/findings.ts';
import { writeOwnReport } from '../end/report/own-report.ts';
import { sessionReport } from '../end/report/write-report.ts';
import type { AgentEnd } from '../launch/agent-run.ts';
import { type Ending, exitStatus } from '../record/exit-status.ts';
import type { UserDeps } from '../stage/deps.ts';
import { failedTestLines } from '../tests/test-lines.ts';
import { failOnLine } from './outcome-words.ts';

/** What became of a session's changes, by which its exit status is decided. */
export interface EndState extends Pick<Ending, 'conflicts' | 'decided' | 'heldBack' | 'waiting'> {
  readonly record: SessionRecord;
  /** All that the session changed. */
  readonly whole: Review;
  readonly agent: AgentEnd;
}

/** The exit status of a session's end. Prints the reason where --fail-on or a test decides it. */
export function endStatus({ record, whole, agent, ...state }: EndState, { tell, interruption }: UserDeps): number {
  const { failOn } = record.plan.policy;
  const reached = findingsAtLeast(failOn, whole);
  const reason = failOnLine(failOn, reached);
  if (reason !== undefined) tell({ kind: 'message', level: 'info', text: reason });
  const failed = agent.isEarlier === true ? [] : failedTestLines(record.tests);
  for (const text of failed) tell({ kind: 'message', level: 'info', text });
  const interruptedBy = interruption.by();
  return exitStatus({
    ...state,
    ...(interruptedBy === undefined ? {} : { interruptedBy }),
    hasFailed: agent.failure !== undefined,
    limited: agent.stopReason !== undefined && interruptedBy === undefined,
    failOn: reached.length > 0,
    testFailed: failed.length > 0,
    agent: agent.status,
  });
}

/**
 * {@link endStatus}, with the reports of the session: its own, and the one that the user asked for. Throws where a report
 * cannot be written: a script that asked for one must not continue without it.
 */
export async function reportEnd(state: EndState & { readonly choice: Choice }, deps: UserDeps): Promise<number> {
  const { record, whole, choice } = state;
  const status = endStatus(state, deps);
  const report = await sessionReport({ record, review: whole, choice, exitStatus: status });
  writeOwnReport(report, record.plan.sessionDir);
  deps.report?.write(report);
  return status;
}

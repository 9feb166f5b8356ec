import { wasCollected } from '../../session/record.ts';
import { reviewOf } from '../../session/review-session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { summaryLines } from '../../terminal/summary.ts';
import type { CommandRun } from '../context.ts';
import { withSession } from '../open-session.ts';

/** `status [ID]`: where a session stands, what it changed, and what waits. */
export const statusCommand: CommandRun = (line, context) =>
  withSession(line, context, (record) => {
    const review = wasCollected(record.plan.sessionDir) ? reviewOf(record) : undefined;
    const { id, project, stage, started, agentStatus, stoppedBecause, outcome, usage } = record;
    if (line.options.has('json')) {
      const changes = review?.items.map(({ change, state, findings }) => ({
        path: change.path,
        kind: change.kind,
        state,
        findings,
      }));
      const claude = review?.claude;
      const data = { id, project, stage, started, agentStatus, stoppedBecause, usage, outcome, changes, claude };
      context.write(`${JSON.stringify(data, undefined, 2)}\n`);
      return 0;
    }
    const ended = agentStatus === undefined ? '' : `, agent ended with ${agentStatus}`;
    const stopped = stoppedBecause === undefined ? '' : `, stopped: ${cleanLine(stoppedBecause)}`;
    context.write(`${id}  ${stage}${ended}${stopped}\n${cleanLine(project)}\n`);
    for (const { text } of review === undefined ? [] : summaryLines(review)) context.write(`${text}\n`);
    return 0;
  });

import { readUsage, usageLine } from '../../gateway/usage.ts';
import { jsonText } from '../../report/json.ts';
import { isRunning, liveNow } from '../../session/follow.ts';
import { wasCollected } from '../../session/record.ts';
import { reviewOf } from '../../session/review-session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { ignoredAmount, summaryLines } from '../../terminal/summary.ts';
import type { SessionRecord } from '../../types/session.ts';
import { connectOurs } from '../connect-ours.ts';
import type { CommandContext, CommandRun } from '../context.ts';
import { withSession } from '../open-session.ts';
import type { CommandLineOfCommand } from '../parse-command-line.ts';
import { outcomeLine } from '../write-outcome.ts';

/** `status [ID]`: where a session stands, what it changed, and what waits. */
export const statusCommand: CommandRun = (line, context) =>
  withSession(line, context, 'look', async (record) => {
    if (isRunning(record)) return runningStatus(record, line, context);
    const review = wasCollected(record.plan.sessionDir) ? reviewOf(record) : undefined;
    const { id, project, stage, started, agentStatus, stoppedBecause, outcome, note } = record;
    const usage = record.usage ?? readUsage(record.plan.sessionDir);
    if (line.options.has('json')) {
      const changes = review?.items.map(({ change, state, findings }) => ({
        path: change.path,
        kind: change.kind,
        state,
        findings,
      }));
      const claude = review?.claude;
      const data = { id, project, stage, started, agentStatus, stoppedBecause, usage, note, outcome, changes, claude };
      context.write(jsonText(data));
      return 0;
    }
    const ended = agentStatus === undefined ? '' : `, agent ended with ${agentStatus}`;
    const stopped = stoppedBecause === undefined ? '' : `, stopped: ${cleanLine(stoppedBecause)}`;
    context.write(`${id}  ${stage}${ended}${stopped}\n${cleanLine(project)}\n`);
    if (outcome !== undefined && outcome.changes.length > 0) context.write(`${outcomeLine(outcome)}, ${outcome.at}\n`);
    if (usage !== undefined && usage.requests > 0) context.write(`${usageLine(usage)}\n`);
    if (note) context.write(`note: ${cleanLine(note)}\n`);
    for (const { text } of review === undefined ? [] : summaryLines(review)) context.write(`${text}\n`);
    return 0;
  });

/** Of a session whose agent works: what its layer holds now. Nothing of it is frozen yet. */
async function runningStatus(
  record: SessionRecord,
  line: CommandLineOfCommand,
  context: CommandContext,
): Promise<number> {
  const { id, project, stage, started, workspace } = record;
  const usage = readUsage(record.plan.sessionDir);
  let live: Awaited<ReturnType<typeof liveNow>> = { changes: [], ignored: [] };
  // A bind session has no layer.
  if (workspace !== undefined) {
    const engine = await connectOurs(record.plan.policy.engine, context);
    try {
      live = await liveNow(record, engine, context.tell);
    } finally {
      await engine.close();
    }
  }
  if (line.options.has('json')) {
    const changes = live.changes.map(({ path, kind, size }) => ({ path, kind, size }));
    const { ignored } = live;
    context.write(jsonText({ id, project, stage, started, usage, changes, ignored }));
    return 0;
  }
  const counts = new Map<string, number>();
  for (const { kind } of live.changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const said = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  context.write(`${id}  ${stage}\n${cleanLine(project)}\n`);
  if (workspace !== undefined) context.write(`so far: ${said === '' ? 'nothing changed' : said}\n`);
  for (const { directory, entries, bytes } of live.ignored) {
    context.write(`ignored: ${cleanLine(directory)} (${ignoredAmount(entries, bytes)})\n`);
  }
  if (usage !== undefined) context.write(`${usageLine(usage)}\n`);
  return 0;
}

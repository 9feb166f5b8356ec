import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { readOwnReport } from '../../../session/end/report/own-report.ts';
import { sharedStatus } from '../../../session/record/exit-status.ts';
import { isStoppable } from '../../../session/record/find/pick-session.ts';
import { listSessions, ownerState, readRecord } from '../../../session/record/session.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import { recoverWithoutQuestion } from '../../sessions/recover-without-question.ts';
import { sessionOf } from '../../sessions/session-of.ts';

const POLL_MS = 200;

/** `wait [ID…]`: waits for the ends of sessions. Returns their exit status: of several that of the one that matters most. */
export const waitCommand: CommandRun = async (line, context) => {
  const { tell, write, interruption } = context;
  const { signal } = interruption;
  const waited = namedSessions(line.words, line.options.has('all') || line.options.has('any'), context);
  const ended: SessionRecord[] = [];
  let left: SessionRecord[] = [...waited];
  while (left.length > 0) {
    const now = left.map((one) => readRecord(one.plan.sessionDir) ?? one);
    left = [];
    for (const one of now) {
      if (ownerState(one) === 'ended') ended.push(one);
      else left.push(one);
    }
    if (line.options.has('any') && ended.length > 0) break;
    if (left.length > 0) await sleep(POLL_MS, undefined, { signal });
  }
  const [first] = ended;
  if (first === undefined) {
    tell({ kind: 'message', level: 'info', text: 'No session is running.' });
    return EXIT.ok;
  }
  if (line.options.has('any')) {
    write(`${first.id}\n`);
    return statusOf(first, context);
  }
  const statuses: number[] = [];
  for (const one of ended) statuses.push(await statusOf(one, context));
  return sharedStatus(statuses);
};

/** Those of the ids; without one all that run, or the only one of this project. */
function namedSessions(ids: readonly string[], isEach: boolean, context: CommandContext): readonly SessionRecord[] {
  if (ids.length > 0) return ids.map((id) => sessionOf('wait', id, context));
  if (!isEach) return [sessionOf('wait', undefined, context)];
  return listSessions(context.places.stateDir).sessions.filter(
    (one) => isStoppable(one) && ownerState(one) !== 'ended' && one.plan.besideSession === undefined,
  );
}

/** Where its command was killed, what it left is collected first. */
async function statusOf(found: SessionRecord, context: CommandContext): Promise<number> {
  const record = await recoverWithoutQuestion(found, context);
  const { id, stage, plan, agentStatus } = record;
  const words =
    stage === 'pending' ? `Its changes are pending: run-claude attach ${id}` : `See run-claude status ${id}`;
  context.tell({ kind: 'message', level: 'info', text: `Session ${id} has ended. ${words}` });
  if (stage === 'failed') return EXIT.failed;
  const own = found === record ? readOwnReport(plan.sessionDir) : undefined;
  return own?.exitStatus ?? (stage === 'pending' ? EXIT.undecided : (agentStatus ?? EXIT.ok));
}

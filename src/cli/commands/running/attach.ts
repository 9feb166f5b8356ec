import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, usageError } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { attachAway } from '../../../session/background/attach-away.ts';
import { hasPlace } from '../../../session/kept/place.ts';
import { isUnderWay } from '../../../session/record/find/pick-session.ts';
import { isKept, ownerState, readRecord } from '../../../session/record/session.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import { reviewEnded } from '../../sessions/review-ended.ts';
import { sessionOf } from '../../sessions/session-of.ts';

const POLL_MS = 100;

/**
 * `attach [ID]`: the terminal of a session in the background, on this one, until the agent ends or the user leaves it.
 * When the session has ended, its review.
 */
export const attachCommand: CommandRun = async (line, context) => {
  const { tell, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const found = sessionOf('attach', line.words[0], context);
  const { id } = found;
  if (isKept(found)) throw usageError(`session ${id} has no agent`, `Open a shell in it: run-claude shell ${id}`);
  const record = await untilReachable(found, interruption.signal);
  if (isHeld(record)) {
    if (!hasPlace(record.plan.sessionDir) && record.stage !== 'ended')
      throw usageError(
        `session ${id} has a terminal of its own, and was not started with --bg`,
        `Open a shell in it: run-claude shell ${id}. What it does: run-claude log ${id} --follow`,
      );
    const end = record.stage === 'running' ? await attach(record, context) : 'ended';
    if (end === 'detached' || (end === 'lost' && isHeld(again(record)))) {
      const why = end === 'lost' ? ' This terminal did not keep up with it.' : '';
      say(`Session ${id} runs on.${why} To show it again: run-claude attach ${id}`);
      return EXIT.ok;
    }
    if (end === 'ended') say(`The agent of session ${id} has ended. Its changes are being collected...`);
  }
  const ended = await untilReleased(record, interruption.signal);
  interruption.signal.throwIfAborted();
  return reviewEnded(ended, context, { autoApply: false, allowSuspect: [] });
};

async function attach(record: SessionRecord, { tell }: CommandContext): ReturnType<typeof attachAway> {
  const { tty } = record.plan;
  const text = `Session ${record.id}. Ctrl-C leaves it running.`;
  // The agent's screen takes the place of all that is printed before it.
  if (!tty) tell({ kind: 'message', level: 'info', text });
  if (tty) tell({ kind: 'terminal-lent' });
  try {
    const { stdin, stdout, stderr } = process;
    return await attachAway(record, { stdin, stdout, stderr });
  } finally {
    if (tty) tell({ kind: 'terminal-returned' });
  }
}

const isHeld = (record: SessionRecord): boolean => isUnderWay(record) && ownerState(record) === 'alive';

const again = (record: SessionRecord): SessionRecord => readRecord(record.plan.sessionDir) ?? record;

/** The session once its agent runs, or has ended. */
async function untilReachable(record: SessionRecord, signal: AbortSignal): Promise<SessionRecord> {
  let now = record;
  // Between the start of its agent and the opening of its door are at most some seconds.
  for (let tries = 0; tries < 100 || now.stage === 'planned'; tries += 1) {
    if (!isHeld(now) || hasPlace(now.plan.sessionDir) || now.stage === 'ended') return now;
    await sleep(POLL_MS, undefined, { signal });
    now = again(now);
  }
  return now;
}

/** The session once its own command has collected and audited it, or was killed. */
async function untilReleased(record: SessionRecord, signal: AbortSignal): Promise<SessionRecord> {
  let now = again(record);
  while (ownerState(now) === 'alive' && !signal.aborted) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    now = again(now);
  }
  return now;
}

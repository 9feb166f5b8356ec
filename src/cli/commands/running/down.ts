import { usageError } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { stopRunning } from '../../../session/later/stop-session.ts';
import { isStoppable } from '../../../session/record/find/pick-session.ts';
import { isKept } from '../../../session/record/session.ts';
import type { CommandContext, CommandRun } from '../../context/context.ts';
import { reviewEnded } from '../../sessions/review-ended.ts';
import { sessionOf } from '../../sessions/session-of.ts';

/** `down [ID]`: ends a kept session. On a terminal its changes are reviewed; otherwise they stay pending. */
export const downCommand: CommandRun = async (line, context) => {
  const found = sessionOf('down', line.words[0], context);
  const { id } = found;
  if (!isKept(found)) throw usageError(`session ${id} has its own agent`, `Stop it with: run-claude stop ${id}`);
  const ended = isStoppable(found) ? await end(found, context) : found;
  context.interruption.signal.throwIfAborted();
  const autoApply = line.options.has('auto-apply');
  return reviewEnded(ended, context, { autoApply, allowSuspect: line.options.get('allow-suspect') ?? [] });
};

/** It may have come to its end since it was found: then its review is what the user wants of this command. */
async function end(found: SessionRecord, { tell, interruption }: CommandContext): Promise<SessionRecord> {
  tell({ kind: 'message', level: 'info', text: `Ending session ${found.id}...` });
  return stopRunning(found, interruption.signal, 'run-claude down');
}

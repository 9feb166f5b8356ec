import { EXIT } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { stopRunning } from '../../../session/later/stop-session.ts';
import { extraFolderSessions } from '../../../session/record/find/session-folders.ts';
import type { CommandRun } from '../../context/context.ts';
import { recoverWithoutQuestion } from '../../sessions/recover-without-question.ts';
import { sessionOf } from '../../sessions/session-of.ts';

/** `stop [ID]`: stops the agent of a running session from another terminal. Its changes are collected and kept. */
export const stopCommand: CommandRun = async (line, context) => {
  const { tell, interruption } = context;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const found = sessionOf('stop', line.words[0], context);
  say(`Stopping session ${found.id}...`);
  const stopped = await stopRunning(found, interruption.signal);
  interruption.signal.throwIfAborted();
  const ended = await recoverWithoutQuestion(stopped, context);
  say(outcomeOf(ended));
  for (const one of extraFolderSessions(ended)) say(outcomeOf(await recoverWithoutQuestion(one, context)));
  return EXIT.ok;
};

function outcomeOf({ id, stage, plan }: SessionRecord): string {
  if (stage === 'pending') {
    return `Session ${id} is stopped. Its changes are pending: run-claude diff ${id}, run-claude apply ${id}`;
  }
  if (stage === 'failed') return `Session ${id} is stopped. Its agent had not started.`;
  if (plan.mode === 'bind') return `Session ${id} is stopped. Its changes are in the project.`;
  return `Session ${id} is stopped. It has no changes to apply.`;
}

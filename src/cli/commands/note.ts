import { realpathSync } from 'node:fs';
import { usageError } from '../../errors.ts';
import { findSession } from '../../record/find-session.ts';
import { writeNote } from '../../record/session.ts';
import type { CommandRun } from '../context/context.ts';

const LONGEST = 500;

/** `note [ID] TEXT`: remembers a line with a session, for `sessions` and `status`; an empty text takes it away. */
export const noteCommand: CommandRun = async (line, context) => {
  const text = line.words.at(-1);
  if (text === undefined) throw usageError('note: what text?', 'run-claude note [ID] "to be looked at on Monday"');
  if (text.length > LONGEST) throw usageError(`note: at most ${LONGEST} characters`);
  const id = line.words.length > 1 ? line.words[0] : undefined;
  const record = findSession(context.places.stateDir, id, realpathSync(context.cwd));
  writeNote(record, text);
  context.tell({ kind: 'message', level: 'info', text: `Noted with session ${record.id}.` });
  return 0;
};

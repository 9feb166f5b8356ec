import { usageError } from '../../core/errors.ts';
import { writeNote } from '../../session/record/session.ts';
import type { CommandRun } from '../context/context.ts';
import { sessionOf } from '../sessions/session-of.ts';

const MAX_CHARACTERS = 500;

/** `note [ID] TEXT`: stores a line with a session, for `sessions` and `status`. An empty text removes it. */
export const noteCommand: CommandRun = async (line, context) => {
  const text = line.words.at(-1);
  if (text === undefined) throw usageError('note: no text', 'Write run-claude note [ID] "read again on Monday".');
  if (text.length > MAX_CHARACTERS)
    throw usageError(`note: the text is longer than ${MAX_CHARACTERS} characters`, 'Shorten it.');
  const id = line.words.length > 1 ? line.words[0] : undefined;
  const record = sessionOf('note', id, context);
  writeNote(record, text);
  context.tell({ kind: 'message', level: 'info', text: `Stored with session ${record.id}.` });
  return 0;
};

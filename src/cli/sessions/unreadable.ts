import type { UnreadableSession } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';

/** Lists a session whose record cannot be read, with the reason and the next step: it stops no other session. */
export function warnOfUnreadable({ id, error }: UnreadableSession, { tell }: Pick<CommandContext, 'tell'>): void {
  const text = `Session ${id} is left out: ${error.message}.${error.hint === undefined ? '' : ` ${error.hint}`}`;
  tell({ kind: 'message', level: 'warning', text: cleanLine(text) });
}

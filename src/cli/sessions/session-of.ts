import { realpathSync } from 'node:fs';
import { whenText } from '../../core/text/when.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { type FoundSession, findSession } from '../../session/record/find/find-session.ts';
import {
  othersText,
  PURPOSE_OF_COMMAND,
  type Purpose,
  type SessionCommand,
} from '../../session/record/find/pick-session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd } from '../../terminal/columns/width.ts';
import type { CommandContext } from '../context/context.ts';
import { programText } from './program-text.ts';
import { warnOfUnreadable } from './unreadable.ts';

/**
 * The session that a command means. Without an id the command's row in {@link PURPOSE_OF_COMMAND} picks it, and where it
 * could have meant others as well, a line names it.
 *
 * @throws {RunClaudeError} as findSession does
 */
export function sessionOf(
  command: SessionCommand,
  id: string | undefined,
  { places, cwd, tell }: CommandContext,
): SessionRecord {
  const purpose = PURPOSE_OF_COMMAND[command];
  const found = findSession(places.stateDir, id, realpathSync(cwd), purpose);
  for (const one of found.unreadable) warnOfUnreadable(one, { tell });
  if (found.others.length > 0) tell({ kind: 'message', level: 'info', text: pickedLine(found, purpose, Date.now()) });
  return found.record;
}

const MAX_PROMPT_COLUMNS = 30;

/** 'Session 261121-140512-k7p (today 14:03, "fix it"). 2 others are pending: run-claude sessions' */
function pickedLine({ record, others }: FoundSession, purpose: Purpose, nowMs: number): string {
  const what = cutEnd(cleanLine(programText(record.plan.program)), MAX_PROMPT_COLUMNS);
  const session = `Session ${record.id} (${whenText(record.started, nowMs)}, ${what})`;
  return `${session}. ${othersText(others.length, purpose)}: run-claude sessions`;
}

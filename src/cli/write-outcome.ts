import { cleanLine } from '../terminal/clean.ts';
import type { ApplyOutcome } from '../types/session.ts';
import type { CommandContext } from './context.ts';

/** What became of each path, a line each or as JSON. */
export function writeOutcome(outcome: ApplyOutcome, json: boolean, { write }: Pick<CommandContext, 'write'>): void {
  if (json) write(`${JSON.stringify(outcome, undefined, 2)}\n`);
  else
    for (const { path, verdict, why } of outcome.changes) {
      write(`${verdict.padEnd(9)} ${cleanLine(path)}${why === undefined ? '' : ` (${cleanLine(why)})`}\n`);
    }
}

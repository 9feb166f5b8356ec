import { EXIT } from '../../errors.ts';
import { undoSession } from '../../session/settle.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandRun } from '../context.ts';
import { withSession } from '../open-session.ts';

/** `undo [ID]`: takes the last apply of a session back; exit 122 where the person edited since. */
export const undoCommand: CommandRun = (line, context) =>
  withSession(line, context, async (record, deps) => {
    const { outcome, conflicts } = await undoSession(record, deps, line.options.has('dry-run'));
    if (line.options.has('json')) context.write(`${JSON.stringify(outcome, undefined, 2)}\n`);
    else
      for (const { path, verdict, why } of outcome.changes) {
        context.write(`${verdict.padEnd(9)} ${cleanLine(path)}${why === undefined ? '' : ` (${cleanLine(why)})`}\n`);
      }
    return conflicts > 0 ? EXIT.conflict : EXIT.ok;
  });

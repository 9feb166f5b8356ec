import { EXIT } from '../../../core/errors.ts';
import { outcomeCounts } from '../../../review/choices/held-back.ts';
import { undoSession } from '../../../session/later/undo.ts';
import type { CommandRun } from '../../context/context.ts';
import { withSession } from '../../sessions/open-session.ts';
import { writeOutcome } from '../../sessions/write-outcome.ts';

/** `undo [ID]`: undoes the last apply of a session; exit 122 where the user has edited a file since. */
export const undoCommand: CommandRun = (line, context) =>
  withSession(line, context, 'undo', async (record, deps) => {
    const dryRun = line.options.has('dry-run');
    const outcome = await undoSession(record, deps, { dryRun, yes: line.options.has('yes') });
    if (outcome === undefined) {
      deps.tell({ kind: 'message', level: 'info', text: 'Nothing was undone. With --yes there is no question.' });
      return EXIT.undecided;
    }
    const { removed = [] } = outcome;
    const isRemoved = new Set<string>(removed);
    const words = dryRun ? (['would remove', 'would restore'] as const) : (['removed', 'restored'] as const);
    const applied = (path: string): string => words[isRemoved.has(path) ? 0 : 1];
    writeOutcome(outcome, { json: line.options.has('json'), applied }, context);
    return outcomeCounts(outcome).conflicts > 0 ? EXIT.conflict : EXIT.ok;
  });

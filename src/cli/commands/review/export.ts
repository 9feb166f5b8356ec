import path from 'node:path';
import { EXIT, usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import { exportSession } from '../../../session/later/export-session.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { CommandRun } from '../../context/context.ts';
import { withSession } from '../../sessions/open-session.ts';

/** `export [ID] FILE`: writes the changes of a session to one file, for `import` elsewhere. */
export const exportCommand: CommandRun = (line, context) => {
  const words = line.words.slice(0, -1);
  const named = line.words.at(-1);
  if (named === undefined) throw usageError('export: no file to write to', 'Write run-claude export ID FILE.');
  return withSession({ ...line, words }, context, 'export', async (record, deps) => {
    const file = path.resolve(context.cwd, named);
    const { changes, leftOut } = await exportSession(record, file, deps);
    const tell = (text: string): void => deps.tell({ kind: 'message', level: 'info', text });
    if (line.options.has('json')) context.write(jsonText({ session: record.id, file, changes, leftOut }));
    for (const one of leftOut) tell(`Left out: ${cleanLine(one)} (no change set can hold it)`);
    tell(`Exported ${changes} ${changes === 1 ? 'change' : 'changes'} of session ${record.id} to ${cleanLine(named)}.`);
    return EXIT.ok;
  });
};

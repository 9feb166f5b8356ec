import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { sessionDirs } from '../../session/record/session.ts';
import type { CommandRun } from '../context/context.ts';
import { type Candidate, candidates } from '../help/candidates.ts';
import { pageNames } from '../help/help-page.ts';
import { COMPLETED_SHELLS } from '../help/shells.ts';

/** A list that a shell can show. */
const MAX_IDS = 50;

/** `completion SHELL`: the script that completes command lines; with `-- WORDS…`, the words that can follow. */
export const completionCommand: CommandRun = async (line, context) => {
  const [name = ''] = line.words;
  const shells = Object.keys(COMPLETED_SHELLS);
  if (!Object.hasOwn(COMPLETED_SHELLS, name))
    throw usageError(
      name === '' ? 'which shell?' : `no completion for '${name}'`,
      `Write one of: ${shells.map((one) => `run-claude completion ${one}`).join(', ')}.`,
    );
  const shell = COMPLETED_SHELLS[name as keyof typeof COMPLETED_SHELLS];
  if (line.rest.length === 0) {
    context.write(shell.script);
    return 0;
  }
  const found = candidates(line.rest, { ids: () => sessionIds(context.places.stateDir), pages: pageNames });
  context.write(found.map((one) => `${shell.line(one)}\n`).join(''));
  return 0;
};

/** The names of the folders alone: a record is not read for a key that was pressed. */
function sessionIds(stateDir: string): readonly Candidate[] {
  const dirs = sessionDirs(stateDir).toReversed();
  return dirs.slice(0, MAX_IDS).map((dir) => ({ word: path.basename(dir), help: '' }));
}

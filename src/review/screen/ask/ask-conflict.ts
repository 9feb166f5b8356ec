import type { RelPath } from '../../../core/text/path.ts';
import type { Conflict, ConflictAnswer, Merged } from '../../../core/types/change/conflict.ts';
import { ask, askYesNo } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { page } from '../../../terminal/pager.ts';
import { say } from '../../../terminal/say.ts';
import type { Screen } from '../../../terminal/screen.ts';
import { fileDiff } from '../../choices/file-diff.ts';
import { diffLines } from '../diff/diff-view.ts';
import { conflictQuestion, conflictRule, mergeQuestion } from '../questions.ts';

/**
 * Asks what becomes of a conflict. Enter keeps the user's file; Ctrl-C and end of input keep it for this conflict and
 * for all that follow. Preconditions: stdin and stderr are a terminal.
 */
export async function askConflict(screen: Screen, conflict: Conflict): Promise<ConflictAnswer> {
  const question = conflictQuestion(conflict.rules, conflict.versions !== undefined);
  say(screen, [`Conflict in ${cleanLine(conflict.path)}: ${cleanLine(conflict.why)}`]);
  for (;;) {
    const answer = await ask(screen, question);
    if (answer === undefined) return { rule: 'keep', forAll: true };
    if (answer.key !== 'd') return { rule: conflictRule(answer.key), forAll: answer.rest !== '' };
    if (conflict.versions !== undefined) await showVersions(screen, conflict, conflict.versions);
  }
}

async function showVersions(
  screen: Screen,
  { path }: Conflict,
  versions: NonNullable<Conflict['versions']>,
): Promise<void> {
  try {
    const { host, session } = await versions();
    await showVersion(screen, path, host, session);
  } catch (error) {
    say(screen, [`The versions cannot be shown: ${cleanLine((error as Error).message)}`]);
  }
}

/** What another version would change in the host's file. */
async function showVersion(screen: Screen, path: RelPath, host: Buffer, other: Buffer): Promise<void> {
  const change = { path, kind: 'modified' as const };
  const item = { change, state: 'clean' as const, findings: [] };
  const view = { colour: screen.colour, columns: screen.stderr.columns ?? 80 };
  await page(screen, diffLines(item, fileDiff(change, host, other), view));
}

/** Shows what a merge would change in the host's file. Preconditions: stdin and stderr are a terminal. */
export async function showMerge(screen: Screen, { path, host, merged }: Merged): Promise<void> {
  await showVersion(screen, path, host, merged);
}

/** As {@link showMerge}, and asks. Only a y takes it. */
export async function askMerge(screen: Screen, merge: Merged): Promise<boolean> {
  await showMerge(screen, merge);
  return askYesNo(screen, mergeQuestion(cleanLine(merge.path)));
}

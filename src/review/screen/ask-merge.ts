import type { RelPath } from '../../core/text/path.ts';
import { askYesNo, type Question } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { page } from '../../terminal/pager.ts';
import type { Screen } from '../../terminal/screen.ts';
import { fileDiff } from '../choices/file-diff.ts';
import { diffLines } from './diff-view.ts';
import { mergeQuestion } from './questions.ts';

/**
 * Shows what a merge would change in the host's file, and asks. Only a y takes it. `asked`: the question about a file of this
 * name. Preconditions: stdin and stderr are a terminal.
 */
export async function askMerge(
  screen: Screen,
  merge: { readonly path: RelPath; readonly host: Buffer; readonly merged: Buffer },
  asked: (name: string) => Question<'y' | 'n'> = mergeQuestion,
): Promise<boolean> {
  const change = { path: merge.path, kind: 'modified' as const };
  const item = { change, state: 'clean' as const, findings: [] };
  const view = { colour: screen.colour, columns: screen.stderr.columns ?? 80 };
  await page(screen, diffLines(item, fileDiff(change, merge.host, merge.merged), view));
  return askYesNo(screen, asked(cleanLine(merge.path)));
}

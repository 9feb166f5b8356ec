import type { RelPath } from '../../../core/text/path.ts';
import { askYesNo } from '../../../terminal/ask.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { page } from '../../../terminal/pager.ts';
import type { Screen } from '../../../terminal/screen.ts';
import { fileDiff } from '../../choices/file-diff.ts';
import { diffLines } from '../diff/diff-view.ts';
import { mergeQuestion } from '../questions.ts';

/** What a merge would make of a file. */
export interface ShownMerge {
  readonly path: RelPath;
  readonly host: Buffer;
  readonly merged: Buffer;
}

/** Shows what a merge would change in the host's file. Preconditions: stdin and stderr are a terminal. */
export async function showMerge(screen: Screen, merge: ShownMerge): Promise<void> {
  const change = { path: merge.path, kind: 'modified' as const };
  const item = { change, state: 'clean' as const, findings: [] };
  const view = { colour: screen.colour, columns: screen.stderr.columns ?? 80 };
  await page(screen, diffLines(item, fileDiff(change, merge.host, merge.merged), view));
}

/** As {@link showMerge}, and asks. Only a y takes it. */
export async function askMerge(screen: Screen, merge: ShownMerge): Promise<boolean> {
  await showMerge(screen, merge);
  return askYesNo(screen, mergeQuestion(cleanLine(merge.path)));
}

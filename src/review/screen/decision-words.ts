import type { Decision, ReviewItem } from '../../core/types/review.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { unignoredPatterns } from '../choices/decisions.ts';
import { setName } from '../choices/file-sets.ts';
import { isDeletion } from '../choices/policy.ts';
import type { ReviewQuestion } from './diff/show.ts';
import { itemLines } from './diff/show.ts';

/**
 * 'Take suspect Makefile', 'Delete old.txt', 'Rename doc.txt to docs.txt', 'Take cfg with 2 more changes', 'Take SQLite database app.db
 * (3 files)'. Cleaned.
 */
export function decisionWords({ lead, items, state, set }: Decision): string {
  const suspect = state === 'suspect' ? 'suspect ' : '';
  if (set !== undefined) return `Take ${suspect}${cleanLine(setName(set))} (${amount(items.length, 'files')})`;
  const name = cleanLine(lead.change.path);
  const verb = isDeletion(lead.change) ? 'Delete' : 'Take';
  if (lead.renamedFrom === undefined) return `${verb} ${suspect}${name}${moreWords(items.length - 1)}`;
  return `Rename ${cleanLine(lead.renamedFrom)} to ${suspect}${name}${moreWords(items.length - 2)}`;
}

function moreWords(count: number): string {
  return count <= 0 ? '' : ` with ${count} more ${count === 1 ? 'change' : 'changes'}`;
}

/** The differences of all changes of a decision; a rename is shown once, under its new name. */
export async function decisionLines(question: ReviewQuestion, { items }: Decision): Promise<string[]> {
  const lines: string[] = [];
  for (const item of items.filter(({ renamedTo }) => renamedTo === undefined)) {
    for (const line of [...(lines.length === 0 ? [] : ['']), ...(await itemLines(question, item))]) lines.push(line);
  }
  return lines;
}

/** '39 files (vim, /tmp)': what a session un-ignores, with the patterns that name it. Cleaned. */
export function unignoredWords(items: readonly ReviewItem[]): string {
  const files = items.filter(({ change }) => change.after?.kind !== 'dir').length;
  return `${amount(Math.max(1, files), 'files')} (${unignoredPatterns(items).map(cleanLine).join(', ')})`;
}

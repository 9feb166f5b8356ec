import type { ContentReader, Entry } from '../../../core/types/entry.ts';
import type { Review, ReviewItem } from '../../../core/types/review.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import type { Screen } from '../../../terminal/screen.ts';
import type { FileDiff } from '../../choices/file-diff.ts';
import { fileDiff, largeDiff } from '../../choices/file-diff.ts';
import { diffLines } from './diff-view.ts';

export interface ReviewQuestion {
  readonly review: Review;
  readonly content: ContentReader;
  /** Real path of the project, for the question. */
  readonly project: string;
  readonly home: string;
  readonly screen: Screen;
  /** The command that imports the session's commits, where it has some that were not. */
  readonly importWith?: string;
  /** Rehearses the changes, and returns the review with what was found; as before where that fails. Undefined: cannot be. */
  readonly rehearse?: () => Promise<Review>;
}

/** The differences of one change, as lines for the screen. Content that cannot be read is reported, never hidden. */
export async function itemLines(question: ReviewQuestion, item: ReviewItem): Promise<string[]> {
  const { screen } = question;
  const view = { colour: screen.colour, columns: screen.stderr.columns ?? 80 };
  try {
    return diffLines(item, await loadDiff(question.content, item), view);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [...diffLines(item, { kind: 'none' }, view), `Its content cannot be shown: ${cleanLine(why)}`];
  }
}

/** The difference of one change, from the frozen content. @throws what the store throws. */
export async function loadDiff(content: ContentReader, item: ReviewItem): Promise<FileDiff> {
  // A rename is shown as an edit of what the old name held.
  const { before = item.renamedEntry, after } = item.change;
  const change = before === undefined ? item.change : { ...item.change, before };
  if (item.similarity === 100) return { kind: 'none' };
  return (
    largeDiff(change, () => firstBytes(content, after)) ??
    fileDiff(change, await loadFile(content, before), await loadFile(content, after))
  );
}

/** The frozen bytes of a file; undefined for any other entry. */
export async function loadFile(content: ContentReader, entry: Entry | undefined): Promise<Buffer | undefined> {
  return entry?.kind === 'file' && entry.digest !== undefined ? content.read(entry.digest) : undefined;
}

/** The first bytes of a file of any size. */
function firstBytes(content: ContentReader, entry: Entry | undefined): Buffer | undefined {
  if (entry?.kind !== 'file' || entry.digest === undefined) return undefined;
  for (const piece of content.pieces(entry.digest)) return Buffer.from(piece);
  return Buffer.alloc(0);
}

import type { Report } from '../../../core/report/schema.ts';
import type { Review } from '../../../core/types/review.ts';
import { totalFiles } from '../../../review/choices/counts.ts';
import type { ProgressCounts } from '../../../review/choices/file-progress.ts';

/** How many files a bind session changed, as for a copy: all of them are in the project already. */
export function countsInPlace(review: Pick<Review, 'counts'>): ProgressCounts {
  const total = totalFiles(review.counts);
  return { total, applied: total, left: 0, inPart: 0, blocked: 0 };
}

/** The same of a session that has ended, by its own report. Earlier releases reported kinds of changes alone. */
export function filesInPlace({ files, counts }: Report): ProgressCounts {
  if (files !== undefined) return files;
  // A rename is in these numbers as a creation and a deletion too.
  const { renamed = 0, ...kinds } = counts;
  const total = Object.values(kinds).reduce((sum, count) => sum + count, 0) - renamed;
  return { total, applied: total, left: 0, inPart: 0, blocked: 0 };
}

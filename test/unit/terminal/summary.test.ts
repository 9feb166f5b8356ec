import { expect, it } from 'vitest';
import { auditChanges } from '../../../src/audit/audit.ts';
import { buildReview } from '../../../src/review/build-review.ts';
import { diffLines } from '../../../src/terminal/diff-view.ts';
import { summaryLines } from '../../../src/terminal/summary.ts';
import type { Change } from '../../../src/types/entry.ts';
import type { RelPath } from '../../../src/types/path.ts';
import type { ReviewItem } from '../../../src/types/review.ts';

it('says once why a change cannot be read, in the list and beside its diff', () => {
  const problem = 'it changed while it was read';
  const after = { kind: 'file', mode: 0o644, size: 3, mtimeNs: '0' } as const;
  const changes: Change[] = ['ignored', 'plain'].map((name) => ({
    path: name as RelPath,
    kind: 'created',
    after,
    problem,
    ...(name === 'ignored' ? { ignored: true } : {}),
  }));
  const review = buildReview({
    collected: { changes, problems: changes.map(({ path }) => ({ path, why: problem })), withheld: [], baseEntries: 9 },
    findings: auditChanges({ changes, content: () => undefined }),
    allowSuspect: [],
    includeIgnored: false,
  });
  expect(summaryLines(review).slice(1)).toEqual([
    { severity: 'blocked', text: `WARNING: ignored: ${problem} (BLOCKED — not synced)` },
    { severity: 'blocked', text: `WARNING: Unreadable change: plain: ${problem} (BLOCKED — not synced)` },
  ]);
  const [ignored, plain] = review.items as [ReviewItem, ReviewItem];
  const shown = (item: ReviewItem) => diffLines(item, { kind: 'none' }, { colour: false, columns: 80 }).slice(1);
  expect(shown(ignored)).toEqual([`BLOCKED: ${problem}`]);
  expect(shown(plain)).toEqual(['BLOCKED: Unreadable change: What was not seen is not applied.', `  ${problem}`]);
});

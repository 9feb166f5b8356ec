import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { ChangeOutcome } from '../../../../src/core/types/session.ts';
import { isTogetherReason } from '../../../../src/review/apply/sets/in-use.ts';
import { failOnLine, heldLines, troubleLines } from '../../../../src/session/outcome/outcome-words.ts';

const outcome = (
  path: string,
  verdict: ChangeOutcome['verdict'],
  more: Partial<ChangeOutcome> = {},
): ChangeOutcome => ({
  path: path as RelPath,
  verdict,
  ...more,
});

it('files of one thing are one line, with the reason that one of them has of its own', () => {
  const thing = 'SQLite database app.db';
  const other = 'it is one change with app.db-wal, which could not be applied';
  expect([isTogetherReason(other), isTogetherReason('it is one change with x')]).toEqual([true, false]);
  const lines = troubleLines([
    outcome('a', 'applied'),
    outcome('app.db', 'conflict', { thing, why: other }),
    outcome('app.db-shm', 'same', { thing }),
    outcome('app.db-wal', 'failed', { thing, why: 'permission denied' }),
    outcome('part', 'applied', { why: 'in part' }),
    outcome('z\u001b[2J', 'conflict', { why: 'deleted on the host' }),
  ]);
  expect(lines).toEqual([
    'failed: app.db, app.db-wal (permission denied)',
    'applied: part (in part)',
    'conflict: z\\x1b[2J (deleted on the host)',
  ]);
  const many = ['1', '2', '3', '4', '5', '6'].map((name) => outcome(name, 'conflict', { thing, why: 'it is open' }));
  expect(troubleLines(many)).toEqual(['conflict: 1, 2, 3, 4 and 2 more (it is open)']);
});

it('what makes exit status 121 is named, and much of it is counted', () => {
  const held = Array.from({ length: 12 }, (_, at) => ({
    path: `${at}`,
    verdict: 'blocked' as const,
    why: 'Git runs it.',
  }));
  const lines = heldLines(held);
  expect([lines[0], lines.length, lines.at(-1)]).toEqual([
    ...['left: 0 (blocked: Git runs it.)', 11, 'left: 2 more that are held back'],
  ]);
  const finding = { path: 'Makefile', title: 'Suspect file modified', severity: 'suspect' } as Finding;
  expect(failOnLine('suspect', [finding, finding])).toBe(
    '--fail-on suspect: Suspect file modified: Makefile, and 1 more',
  );
  expect([failOnLine('suspect', []), failOnLine(undefined, [finding])]).toEqual([undefined, undefined]);
});

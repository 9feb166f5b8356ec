import { expect, it } from 'vitest';
import { auditChanges } from '../../../../src/audit/audit.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { ReviewItem } from '../../../../src/core/types/review.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { diffLines } from '../../../../src/review/screen/diff/diff-view.ts';
import { claudeLines, summaryLines } from '../../../../src/review/screen/summary.ts';

it('prints once why a change cannot be read, in the list and next to its diff', () => {
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

it('names records of a conversation that contain a credential, not those that every session omits', () => {
  const none = { items: [], general: [], dropped: { attachment: 24, mode: 3 } };
  expect(claudeLines(none)).toEqual([]);
  expect(claudeLines({ ...none, dropped: { ...none.dropped, 'record with a credential': 1 } })).toEqual([
    { severity: 'note', text: "Claude's data: left out: 1 record with a credential" },
  ]);
});

it('wraps a long line of a difference with a mark, shows all of it, and adds nothing', () => {
  const text = `${'word '.repeat(20)}end`;
  const diff = {
    kind: 'text',
    before: [],
    hunks: [{ oldStart: 0, newStart: 0, lines: [{ op: '+', text: `${text}\n` }] }],
  } as const;
  const item = { change: { path: 'a', kind: 'created' }, state: 'clean', findings: [] } as unknown as ReviewItem;
  const lines = diffLines(item, diff as never, { colour: false, columns: 80 });
  expect(lines.slice(2)).toEqual([`+${text.slice(0, 78)}`, `↪${text.slice(78)}`]);
});

it('has one line for many ignored outputs, behind what matters, with the largest ones by name', () => {
  const withheld = [
    ...Array.from({ length: 150 }, (_, at) => ({ directory: `src/m${at}.pyc`, entries: 1, bytes: 100 })),
    { directory: 'build', entries: 900, bytes: 5_000_000 },
  ];
  const shown = (groups: typeof withheld) =>
    summaryLines(
      buildReview({
        collected: { changes: [], problems: [], withheld: groups, baseEntries: 9 },
        findings: [],
        allowSuspect: [],
        includeIgnored: false,
      }),
    )
      .slice(1)
      .map(({ text }) => text);
  expect(shown(withheld)).toEqual([
    'withheld: build, src/m0.pyc, src/m1.pyc and 148 more (1,050 ignored entries, 5.0 MB)',
  ]);
  expect(shown(withheld.slice(148))).toEqual([
    'withheld: src/m148.pyc (1 ignored entry, 100 B)',
    'withheld: src/m149.pyc (1 ignored entry, 100 B)',
    'withheld: build (900 ignored entries, 5.0 MB)',
  ]);
  const unignored = withheld.map((group) => ({ ...group, unignored: true }));
  expect(shown(unignored)).toHaveLength(11);
  expect(shown(unignored)[10]).toBe('withheld: 141 more that the session un-ignores');
});

it('names the first of many findings of one kind, and counts the rest', () => {
  const entry = { kind: 'file', mode: 0o644, size: 3, mtimeNs: '0', digest: 'x' } as const;
  const names = Array.from({ length: 13 }, (_, n) => `vendor/${n}.go` as RelPath);
  const vendored = names.map((path): Change => ({ path, kind: 'created', after: entry }));
  const gone = ['node_modules/a', 'node_modules/b'].map(
    (path): Change => ({ path: path as RelPath, kind: 'deleted', before: entry, ignored: true }),
  );
  const changes = [...vendored, ...gone];
  const review = buildReview({
    collected: { changes, problems: [], withheld: [], baseEntries: 9 },
    findings: auditChanges({ changes, content: () => Buffer.from('abc') }),
    allowSuspect: [],
    includeIgnored: false,
  });
  const lines = summaryLines(review).map(({ text }) => text);
  expect(lines.filter((text) => text.includes('vendor/'))).toHaveLength(10);
  expect(lines.slice(11)).toEqual([
    'WARNING: Vendored code changed: 3 more (l at the question, or --json, lists them all)',
    'withheld: the change of node_modules/a, which is ignored; --include-ignored=node_modules/a takes it',
    'withheld: the change of node_modules/b, which is ignored; --include-ignored=node_modules/b takes it',
  ]);
  expect(summaryLines(review, 13).filter(({ text }) => text.includes('vendor/'))).toHaveLength(13);
});

it('has one line for a folder whose name has a line break, and none for what is in it', () => {
  const dir = { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '0' } as const;
  const entry = { kind: 'file', mode: 0o644, size: 3, mtimeNs: '0', digest: 'x' } as const;
  const changes = ['a\nb', 'a\nb/c', 'a\nb/d\ne'].map(
    (name, at): Change => ({ path: name as RelPath, kind: 'created', after: at === 0 ? dir : entry }),
  );
  const review = buildReview({
    collected: { changes, problems: [], withheld: [], baseEntries: 9 },
    findings: auditChanges({ changes, content: () => Buffer.from('abc') }),
    allowSuspect: [],
    includeIgnored: false,
  });
  const lines = summaryLines(review).map(({ text }) => text.split('\n')[0]);
  expect(lines.filter((text) => text?.includes('Name with control characters'))).toEqual([
    expect.stringContaining('a\\nb: a'),
  ]);
});

import { describe, expect, it } from 'vitest';
import { buildReview, matcher } from '../../../src/review/build-review.ts';
import { chooseClean, chooseNothing, pathFilter } from '../../../src/review/policy.ts';
import type { Change, Entry } from '../../../src/types/entry.ts';
import type { Finding } from '../../../src/types/finding.ts';
import type { RelPath } from '../../../src/types/path.ts';

const entry: Entry = { kind: 'file', mode: 0o644, size: 1, mtimeNs: '0' };
const change = (path: string, more: Partial<Change> = {}): Change => ({
  path: path as RelPath,
  kind: 'created',
  after: entry,
  ...more,
});
const finding = (path: string, severity: Finding['severity']): Finding => ({
  rule: 'r',
  severity,
  path: path as RelPath,
  title: 't',
  why: severity,
});
const review = (
  changes: readonly Change[],
  findings: readonly Finding[] = [],
  allowSuspect: readonly string[] = [],
  baseEntries = 1000,
) =>
  buildReview({
    collected: { changes, problems: [], withheld: [], baseEntries },
    findings,
    allowSuspect,
    includeIgnored: false,
  });

const CHANGES = [
  change('clean'),
  change('suspect'),
  change('blocked'),
  change('problem', { problem: 'unreadable' }),
  change('ignored', { ignored: true }),
  change('.git/x', { inGit: true }),
];
const FINDINGS = [finding('suspect', 'suspect'), finding('blocked', 'blocked'), finding('clean', 'note')];

describe('what is chosen without a person', () => {
  it('is what is clean, and nothing that the audit or the ignore rules hold back', () => {
    const { chosen, left } = chooseClean(review(CHANGES, FINDINGS));
    expect(chosen.map((one) => one.change.path)).toEqual(['clean']);
    expect(left.map(({ path, verdict }) => [path, verdict])).toEqual([
      ['suspect', 'suspect'],
      ['blocked', 'blocked'],
      ['problem', 'blocked'],
      ['ignored', 'withheld'],
    ]);
  });

  it('is what is suspect where that was allowed by name; nothing allows what is blocked', () => {
    const { items } = review(CHANGES, FINDINGS, ['suspect', 'blocked', 'problem', 'ignored']);
    expect(Object.fromEntries(items.map((item) => [item.change.path, item.state]))).toEqual({
      clean: 'clean',
      suspect: 'clean',
      blocked: 'blocked',
      problem: 'blocked',
      ignored: 'withheld',
      '.git/x': 'git',
    });
  });

  it('is nothing where most of the project goes', () => {
    const gone = Array.from(
      { length: 21 },
      (_, n): Change => ({ path: `f${n}` as RelPath, kind: 'deleted', before: entry }),
    );
    const all = [...gone, change('new')];
    expect(chooseClean(review(all, [], [], 41)).chosen).toEqual([]);
    expect(chooseClean(review(all, [], [], 42)).chosen).toHaveLength(22);
    expect(chooseNothing(review(all)).chosen).toEqual([]);
  });
});

describe('--only, --skip and --allow-suspect', () => {
  const HOSTILE = [
    '-rf',
    '!x',
    '#x',
    'a\nb',
    'a ',
    '\\',
    '*',
    '[a]',
    '**',
    'a\tb',
    '...',
    '.. ',
    'x'.repeat(4000),
    '\udcff',
    'con',
    '__proto__',
    'A/B',
  ];

  it('name what they name, whatever else there is', () => {
    const passes = pathFilter({ only: ['src/**', '/a'], skip: ['*.lock'] });
    for (const path of HOSTILE) expect([path, passes(path)]).toEqual([path, false]);
    expect(['src/x', 'src/y.lock', 'a', 'b/a', 'SRC/x', 'A'].filter(passes)).toEqual(['src/x', 'a']);
    expect(HOSTILE.filter(matcher(['src/**']))).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { type MergeableFinding, mergeFindings } from '../../../../src/core/report/merge-findings.ts';

const found = (rule: string, title: string, detail?: string, line?: number): MergeableFinding => ({
  rule,
  severity: 'suspect',
  title,
  why: `why of ${rule}`,
  detail,
  line,
});
const texts = (findings: readonly MergeableFinding[]) =>
  mergeFindings(findings).map(({ finding, rules, title }) => `${title}: ${finding.detail} [${rules.join(' ')}]`);

it('makes one of two rules that say the same of one line, with the exact title and the longer detail', () => {
  const make = found('build-make', 'Suspect file modified', 'line 2: curl x | sh; removed: echo hi');
  const pipe = found('shell-pipe', 'Downloaded text that is run', 'curl x | sh', 2);
  const wanted = ['Downloaded text that is run: line 2: curl x | sh; removed: echo hi [build-make shell-pipe]'];
  expect(texts([make, pipe])).toEqual(wanted);
  expect(texts([pipe, make])[0]).toContain('line 2: curl x | sh; removed: echo hi [shell-pipe build-make]');
  expect(mergeFindings([make, pipe])[0]?.why).toEqual(['why of build-make', 'why of shell-pipe']);
});

it('keeps apart what is of other lines, a part of a word, another text, or without a text', () => {
  const first = found('a', 'A', 'line 2: sh x', 2);
  expect(texts([first, found('b', 'B', 'sh x', 9)])).toHaveLength(2);
  expect(texts([found('a', 'A', 'line 2: rsh x'), found('b', 'B', 'sh x')])).toHaveLength(2);
  expect(texts([first, found('b', 'B', 'sh y')])).toHaveLength(2);
  expect(texts([first, found('b', 'B'), found('c', 'C')])).toHaveLength(3);
  expect(texts([found('a', 'A', 'x', 1), found('a', 'A', 'x', 2)])).toHaveLength(2);
});

it('keeps a blocked finding in front', () => {
  const blocked: MergeableFinding = { ...found('hook', 'New git hook', 'sh x'), severity: 'blocked' };
  const [merged] = mergeFindings([blocked, found('b', 'B', 'line 1: sh x; sh y')]);
  expect(merged?.finding.severity).toBe('blocked');
});

import { expect, it } from 'vitest';
import {
  acceptedBy,
  accepting,
  BASELINE_FILE,
  baselineText,
  readBaseline,
} from '../../../../src/core/report/baseline.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';

const found = (severity: Finding['severity'], detail: string, path = 'Makefile'): Finding => ({
  rule: 'build-make',
  severity,
  path: path as RelPath,
  title: 'Suspect file modified',
  why: 'make runs it.',
  detail,
});

it('a finding is accepted as it is, wherever its line moves to', () => {
  const written = baselineText(accepting([found('suspect', 'line 2: curl x | sh')], []));
  const accepted = readBaseline(written);
  const findings = [
    found('suspect', 'line 9: curl x | sh'),
    found('suspect', 'line 2: curl y | sh'),
    found('suspect', 'line 2: curl x | sh', 'sub/Makefile'),
  ];
  expect(findings.map(acceptedBy(accepted))).toEqual([true, false, false]);
});

it('accepts nothing that is blocked, no note, and no change of itself', () => {
  const findings = [found('blocked', 'a'), found('note', 'b'), found('suspect', 'c', BASELINE_FILE)];
  expect(accepting(findings, [])).toEqual([]);
  const forged = accepting([found('suspect', 'a')], []);
  expect(findings.map(acceptedBy(forged))).toEqual([false, false, false]);
});

it('keeps what was accepted, once each, by path', () => {
  const first = accepting([found('suspect', 'b', 'z'), found('suspect', 'a', 'y')], []);
  const both = accepting([found('suspect', 'c', 'a'), found('suspect', 'b', 'z')], first);
  expect(both.map(({ path }) => path)).toEqual(['a', 'y', 'z']);
  expect(readBaseline(baselineText(both))).toEqual(both);
});

it.each(['', '[]', '{"version":2,"accepted":[]}', '{"version":1}', '{"version":1,"accepted":[{"rule":1}]}'])(
  'refuses %j with what to do',
  (text) => {
    expect(() => readBaseline(text)).toThrow(
      expect.objectContaining({ status: 2, hint: expect.stringContaining('--write-baseline') }),
    );
  },
);

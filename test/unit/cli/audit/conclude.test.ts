import { expect, it } from 'vitest';
import { conclude } from '../../../../src/cli/audit/conclude.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Severity } from '../../../../src/core/types/finding.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';

const reviewWith = (severity: Severity) =>
  buildReview({
    collected: { changes: [{ path: 'a' as RelPath, kind: 'modified' }], problems: [], withheld: [], baseEntries: 9 },
    findings: [{ rule: 'r', severity, path: 'a' as RelPath, title: 't', why: 'w' }],
    allowSuspect: [],
    includeIgnored: true,
  });

async function concluded(severity: Severity, failOn?: Severity, ofPolicy?: Severity, json = false) {
  let out = '';
  const result = { review: reviewWith(severity), lines: [], project: '/p', label: 'x\ny', failOn: ofPolicy };
  const { status } = await conclude(result, { place: undefined, failOn, json, write: (text) => (out += text) });
  return { status, out };
}

it.each([
  ['note', undefined, undefined, 0],
  ['suspect', undefined, undefined, 123],
  ['blocked', undefined, undefined, 121],
  // --fail-on adds to what is forbidden, and never takes from it.
  ['note', 'note', undefined, 121],
  ['suspect', 'suspect', undefined, 121],
  ['suspect', 'blocked', undefined, 123],
  ['suspect', undefined, 'suspect', 121],
  ['suspect', 'blocked', 'suspect', 123],
] as const)(
  'of a %s with --fail-on %s and %s in the policy, ends with %d',
  async (severity, failOn, ofPolicy, status) => {
    expect((await concluded(severity, failOn, ofPolicy)).status).toBe(status);
  },
);

it('prints the verdict last, and a report with the same status as JSON', async () => {
  expect((await concluded('suspect')).out).toBe('x\\ny\nVerdict: needs a person (exit status 123)\n');
  expect(JSON.parse((await concluded('suspect', undefined, undefined, true)).out)).toMatchObject({ exitStatus: 123 });
});

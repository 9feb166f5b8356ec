import { describe, it } from 'vitest';
import { auditChanges } from '../../../src/audit/audit.ts';
import type { RelPath } from '../../../src/core/text/path.ts';
import { expectLinear } from '../../support/expect-linear.ts';
import { HOSTILE_SHAPES, type HostileTree, hostileTree } from '../../support/hostile-trees.ts';

it.each([
  ['stars', `${'*a'.repeat(30)}b`],
  ['folders', `${'**/a'.repeat(10)}/${'?'.repeat(10)}b`],
  ['braces', `${'{a,aa}'.repeat(30)}b`],
])('rules of a project with many %s are matched in steps that grow with the paths', async (_, pattern) => {
  const userRules = [{ id: 'own', paths: [pattern], severity: 'suspect', why: 'Own.' }] as const;
  const prepare = (n: number): HostileTree => {
    const { changes, ...tree } = hostileTree('many files in one folder', n);
    return {
      ...tree,
      changes: changes.map((one, index) => ({ ...one, path: `${'a'.repeat(200)}${index}` as RelPath })),
    };
  };
  await expectLinear(prepare, ({ changes, content }) => void auditChanges({ changes, content, userRules }), { n: 32 });
});

describe.each(HOSTILE_SHAPES)('%s', (shape) => {
  it('takes steps that grow with it, to be audited', async () => {
    const prepare = (n: number): HostileTree => hostileTree(shape, n);
    await expectLinear(prepare, ({ changes, content }) => void auditChanges({ changes, content }));
  });
});

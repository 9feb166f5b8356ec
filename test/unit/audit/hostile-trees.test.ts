import { describe, it } from 'vitest';
import { auditChanges } from '../../../src/audit/audit.ts';
import { expectLinear } from '../../support/expect-linear.ts';
import { HOSTILE_SHAPES, type HostileTree, hostileTree } from '../../support/hostile-trees.ts';

describe.each(HOSTILE_SHAPES)('%s', (shape) => {
  it('takes steps that grow with it, to be audited', async () => {
    const prepare = (n: number): HostileTree => hostileTree(shape, n);
    await expectLinear(prepare, ({ changes, content }) => void auditChanges({ changes, content }));
  });
});

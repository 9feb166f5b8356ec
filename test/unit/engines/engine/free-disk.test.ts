import { expect, it } from 'vitest';
import { availableMb } from '../../../../src/engines/engine/free-disk.ts';

it('reads the free space of the line that df prints for a file system', () => {
  const head = 'Filesystem     1024-blocks     Used Available Capacity Mounted on\n';
  expect(availableMb(`${head}overlay           30832548 12345678  16894716      43% /\n`)).toBe(16_498);
});

it.each(['', 'Filesystem\n', 'overlay 1 2 x 3% /\n'])('knows nothing from %j', (output) => {
  expect(availableMb(output)).toBeUndefined();
});

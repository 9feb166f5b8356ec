import { expect, it } from 'vitest';
import { mountedInside, targetsIn } from '../../../../../src/workspace/bind/masks/mounted-inside.ts';

const LINES = `2153 2140 254:0 /project /workspace rw,relatime - ext4 /dev/vda rw
2154 2153 254:0 /s/bind/mask-0 /workspace/.env rw,relatime - ext4 /dev/vda rw
2155 2153 254:0 /s/bind/mask-1 /workspace/a\\040b\\134c.env rw,relatime - ext4 /dev/vda rw
`;

it('finds the mount points among these paths', () => {
  const targets = ['/workspace/.env', '/workspace/a b\\c.env', '/workspace/gone.env'];
  expect([...targetsIn(LINES, targets)]).toEqual(targets.slice(0, 2));
});

it('knows nothing of a process that has ended', () => {
  expect(mountedInside(process.pid, ['/', '/none'])).toEqual(new Set(['/']));
  expect(mountedInside(0x7fffffff, ['/'])).toBeUndefined();
});

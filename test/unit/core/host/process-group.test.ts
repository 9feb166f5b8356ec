import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { isInForeground } from '../../../../src/core/host/processes/process-group.ts';

it('says what ps says of the group of this process and that of its terminal', () => {
  const ask = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)];
  const [group, foreground] = execFileSync('ps', ask, { encoding: 'utf8' }).trim().split(/\s+/);
  expect(isInForeground()).toBe(group === foreground);
});

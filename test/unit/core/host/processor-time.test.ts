import { expect, it } from 'vitest';
import { fromPs, processorTimeMs } from '../../../../src/core/host/processes/processor-time.ts';

it('tells the processor time of this process, and none of a process that does not exist', () => {
  const { user, system } = process.cpuUsage();
  const known = processorTimeMs(process.pid) ?? Number.NaN;
  expect(Math.abs(known - (user + system) / 1000)).toBeLessThan(500);
  expect(processorTimeMs(2 ** 22 + 1)).toBeUndefined();
});

it('reads what ps prints on macOS', () => {
  expect(['0:01.50\n', '  12:03.25', '1:00:00.00', '', 'x'].map(fromPs)).toEqual([
    1500,
    723_250,
    3_600_000,
    undefined,
    undefined,
  ]);
});

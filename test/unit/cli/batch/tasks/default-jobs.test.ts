import { expect, it } from 'vitest';
import { defaultJobs, jobsForMemory } from '../../../../../src/cli/batch/tasks/default-jobs.ts';

const limits = { cpus: 0, memoryMb: 8192 };

it.each([
  [{ processors: 2, memoryMb: 24_000, limits }, 2],
  [{ processors: 8, memoryMb: 8000, limits }, 2],
  [{ processors: 64, memoryMb: 512_000, limits }, 16],
  [{ processors: 1, memoryMb: 900, limits }, 1],
  [{ processors: 8, memoryMb: 64_000, limits: { ...limits, cpus: 4 } }, 2],
  [{ processors: 8, memoryMb: 4000, limits: { cpus: 0, memoryMb: 512 } }, 5],
])('%j', (input, jobs) => {
  expect(defaultJobs(input)).toBe(jobs);
});

it('counts the sessions that the memory is enough for, whatever the processors', () => {
  expect(jobsForMemory({ processors: 1, memoryMb: 24_000, limits })).toBe(8);
  expect(jobsForMemory({ processors: 1, memoryMb: 900, limits })).toBe(1);
});

import { expect, it } from 'vitest';
import { nextStep } from '../../../../../src/cli/batch/tasks/next-step.ts';
import type { TaskRecord, TaskResult } from '../../../../../src/cli/batch/tasks/task.ts';

const record = (result?: TaskResult): TaskRecord => ({ version: 1, id: 'i', started: 's', result });

it('starts a task without a record, and keeps one that is done', () => {
  expect(nextStep(undefined, undefined, 'none')).toBe('run');
  expect(nextStep(record('done'), 'ended', 'none')).toBe('keep');
  expect(nextStep(record('done'), undefined, 'failed')).toBe('keep');
});

it('repeats failed tasks and all tasks only where that is asked for, interrupted ones always', () => {
  expect(nextStep(record('failed'), 'ended', 'none')).toBe('keep');
  expect(nextStep(record('failed'), 'ended', 'failed')).toBe('run');
  expect(nextStep(record('done'), 'ended', 'all')).toBe('run');
  expect(nextStep(record('interrupted'), 'ended', 'none')).toBe('run');
});

it('finds what a killed batch left', () => {
  expect(nextStep(record(), 'running', 'none')).toBe('wait');
  expect(nextStep(record(), 'ended', 'none')).toBe('judge');
  expect(nextStep(record(), undefined, 'none')).toBe('run');
  expect(nextStep(record(), 'cut-off', 'none')).toBe('collect');
});

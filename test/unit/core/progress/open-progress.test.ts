import { expect, it } from 'vitest';
import { openProgress, withProgress } from '../../../../src/core/progress/open-progress.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';

it('reports at once, with each count and each new line, and its end', () => {
  const told: SessionEvent[] = [];
  {
    using progress = openProgress((event) => told.push(event), 'Building');
    progress.count({ done: 1, total: 3, unit: 'steps' });
    progress.output('half a ');
    progress.output('line\nmore');
    progress.count({ done: 2, total: 3, unit: 'steps' }, 'next');
  }
  const counted = { kind: 'progress', what: 'Building', done: 1, total: 3, unit: 'steps' };
  expect(told).toEqual([
    { kind: 'progress', what: 'Building' },
    counted,
    { ...counted, detail: 'half a line' },
    { ...counted, done: 2, detail: 'next' },
    { kind: 'progress-end', what: 'Building' },
  ]);
});

it('reports the end of work that fails', async () => {
  const told: SessionEvent[] = [];
  const failed = withProgress(
    (event) => told.push(event),
    'Building',
    async () => {
      throw new Error('no');
    },
  );
  await expect(failed).rejects.toThrow('no');
  expect(told.at(-1)).toEqual({ kind: 'progress-end', what: 'Building' });
});

import { expect, it } from 'vitest';
import { announceWait } from '../../../../src/core/progress/announce-wait.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';

it('says once whom a command waits for, and shows that it waits until it does not', () => {
  const told: SessionEvent[] = [];
  const holder = { name: 'process 7 on laptop', doing: 'applying changes to /shop, started just now' };
  announceWait((event) => told.push(event))(holder)[Symbol.dispose]();
  expect(told).toEqual([
    {
      kind: 'message',
      level: 'info',
      text: 'Waiting for process 7 on laptop: applying changes to /shop, started just now',
    },
    { kind: 'progress', what: 'Waiting for process 7 on laptop' },
    { kind: 'progress-end', what: 'Waiting for process 7 on laptop' },
  ]);
});

import { expect, it } from 'vitest';
import { printError } from '../../../src/cli/print-error.ts';
import { EXIT, RunClaudeError } from '../../../src/errors.ts';
import type { SessionEvent } from '../../../src/types/event.ts';

it('prints message and hint, and with --trace the code and the stack', () => {
  const events: SessionEvent[] = [];
  const error = new RunClaudeError('LOCK_HELD', 'the lock is held', { hint: 'Wait for it.', status: EXIT.usage });
  expect(printError(error, (event) => events.push(event))).toBe(EXIT.usage);
  expect(events.slice(0, 3)).toEqual([
    { kind: 'message', level: 'error', text: 'the lock is held' },
    { kind: 'message', level: 'info', text: 'Wait for it.' },
    { kind: 'trace', text: 'error code LOCK_HELD' },
  ]);
  expect(events[3]).toMatchObject({ kind: 'trace', text: expect.stringContaining('the lock is held') });
});

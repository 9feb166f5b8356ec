import { expect, it } from 'vitest';
import { printError } from '../../../src/cli/print-error.ts';
import { EXIT, RunClaudeError } from '../../../src/core/errors.ts';
import type { SessionEvent } from '../../../src/core/types/event.ts';

it('prints code, message and hint, and with --trace the stack', () => {
  const events: SessionEvent[] = [];
  const error = new RunClaudeError('LOCK_HELD', 'the lock is held', { hint: 'Wait for it.', status: EXIT.usage });
  expect(printError(error, (event) => events.push(event))).toBe(EXIT.usage);
  expect(events.slice(0, 3)).toEqual([
    { kind: 'message', level: 'error', text: 'the lock is held', code: 'LOCK_HELD' },
    { kind: 'message', level: 'info', text: 'Wait for it.' },
    { kind: 'trace', text: expect.stringContaining('the lock is held') },
  ]);
});

it.each([
  [
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' }),
    'ENOSPC',
    'no space left on device, write',
  ],
  [new TypeError('x is not a function'), 'BUG', 'a bug in run-claude: x is not a function'],
])('every error has a code: %s', (error, code, text) => {
  const events: SessionEvent[] = [];
  printError(error, (event) => events.push(event));
  expect(events[0]).toEqual({ kind: 'message', level: 'error', text, code });
});

it('prints what the user chose at a question as information', () => {
  const events: SessionEvent[] = [];
  const left = new RunClaudeError('SESSION_LEFT', 'Session 1 runs on.', {
    hint: 'Again.',
    status: 120,
    isChosen: true,
  });
  expect(printError(left, (event) => events.push(event))).toBe(120);
  expect(events.slice(0, 2)).toEqual([
    { kind: 'message', level: 'info', text: 'Session 1 runs on.' },
    { kind: 'message', level: 'info', text: 'Again.' },
  ]);
});

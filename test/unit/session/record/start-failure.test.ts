import { describe, expect, it } from 'vitest';
import { Interrupted, RunClaudeError } from '../../../../src/core/errors.ts';
import { failureText, requireStarted, startFailureOf } from '../../../../src/session/record/start-failure.ts';

describe('the failure of a start', () => {
  it.each([
    [
      new RunClaudeError('ENGINE_LOST', 'the engine does not answer', { hint: 'Start it.' }),
      { code: 'ENGINE_LOST', message: 'the engine does not answer', hint: 'Start it.' },
    ],
    [new RunClaudeError('DISK_FULL', 'full'), { code: 'DISK_FULL', message: 'full' }],
    [new Interrupted('SIGTERM'), { code: 'START_INTERRUPTED', message: 'interrupted by SIGTERM' }],
    [Object.assign(new Error('ENOSPC: x'), { code: 'ENOSPC' }), { code: 'ENOSPC', message: 'ENOSPC: x' }],
    [new TypeError('no'), { code: 'BUG', message: 'no' }],
    ['text', { code: 'BUG', message: 'text' }],
  ])('of %s has its code, its message and its hint', (error, failure) => {
    expect(startFailureOf(error)).toEqual(failure);
  });

  it('is of bounded length', () => {
    expect(startFailureOf(new RunClaudeError('ENGINE_REFUSED', 'x'.repeat(10_000_000))).message).toHaveLength(2000);
  });

  it('is one line of text', () => {
    expect(failureText({ failure: { code: 'A', message: 'b\nc' } })).toBe('failed at its start (A: b)');
    expect(failureText({ failure: { code: 'JOB_UNSAVED', message: 'b' } })).toBe('failed (JOB_UNSAVED: b)');
    expect(failureText({})).toBe('failed at its start; the reason was not recorded');
  });

  it('ends what needs the changes of its session', () => {
    const failure = { code: 'ENGINE_LOST', message: 'no answer', hint: 'Start it.' };
    expect(() => requireStarted({ id: 'x', stage: 'failed', failure })).toThrow(
      expect.objectContaining({
        code: 'SESSION_FAILED',
        message: 'session x has no changes: it failed at its start (ENGINE_LOST: no answer)',
        hint: 'Start it.',
      }),
    );
    expect(() => requireStarted({ id: 'x', stage: 'pending' })).not.toThrow();
  });
});

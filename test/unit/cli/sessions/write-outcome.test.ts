import { expect, it } from 'vitest';
import { writeOutcome } from '../../../../src/cli/sessions/write-outcome.ts';
import type { ApplyOutcome } from '../../../../src/core/types/session.ts';

const outcome = {
  changes: [
    { path: 'a', verdict: 'applied' },
    { path: 'd', verdict: 'applied', why: 'its folder stays writable' },
    { path: 'b\u001b[2J', verdict: 'suspect', why: 'Make runs it' },
  ],
  at: '',
} as unknown as ApplyOutcome;

it('prints one clean line for each path', () => {
  const parts: string[] = [];
  writeOutcome(outcome, { json: false, applied: 'would apply' }, { write: (part) => void parts.push(part) });
  const text = parts.join('');
  expect(text.split('\n')).toEqual([
    'would apply  a',
    'would apply  d (its folder stays writable)',
    expect.stringMatching(/^suspect {6}b.*\(Make runs it\)$/),
    '',
  ]);
  expect(text).not.toContain('\u001b');
});

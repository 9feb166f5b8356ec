import { expect, it } from 'vitest';
import { isSessionId, newSessionId } from '../../../../src/session/record/find/id.ts';

it('makes ids that sort by time and fit an object name', () => {
  const early = newSessionId(Date.UTC(2026, 10, 21, 14, 5, 12));
  const late = newSessionId(Date.UTC(2026, 10, 21, 14, 5, 13));
  expect(early).toMatch(/^261121-140512-/);
  expect(early < late).toBe(true);
  expect(isSessionId(early)).toBe(true);
  expect(isSessionId('../../etc')).toBe(false);
});

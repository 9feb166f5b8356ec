import { expect, it } from 'vitest';
import type { MadeCommits } from '../../../../src/core/types/session.ts';
import { importedCommits } from '../../../../src/session/later/undo.ts';

const made = (count: number, taken?: MadeCommits['taken']): MadeCommits => ({
  ...{ repository: '', count, titles: [] },
  ...(taken && { taken }),
});

it('an undo names the imported commits, which it leaves', () => {
  const textFor = (...commits: readonly MadeCommits[]) => importedCommits({ id: 'x', commits });
  expect(textFor(made(2, 'imported'), made(1, 'refused'), made(1))).toMatch(/^2 imported commits stay .* them: .* x$/);
  expect(textFor(made(1, 'imported'))).toMatch(/^1 imported commit stays .* it:/);
  expect(textFor(made(1), made(1, 'refused'))).toBeUndefined();
  expect(importedCommits({ id: 'x' })).toBeUndefined();
});

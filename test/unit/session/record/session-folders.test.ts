import { expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { foldersOf } from '../../../../src/session/record/find/session-folders.ts';

it('has the project first, then the folders of --also', () => {
  const plan = { project: { root: '/p' }, also: [{ project: { root: '/a' } }] } as unknown as Plan;
  expect(foldersOf(plan)).toEqual(['/p', '/a']);
  expect(foldersOf({ ...plan, also: undefined })).toEqual(['/p']);
});

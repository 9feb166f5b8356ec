import { expect, it } from 'vitest';
import { foldersOf } from '../../../src/plan/folders-of.ts';
import type { Plan } from '../../../src/types/plan.ts';

it('has the project first, then the folders of --also', () => {
  const plan = { project: { root: '/p' }, also: [{ project: { root: '/a' } }] } as unknown as Plan;
  expect(foldersOf(plan)).toEqual(['/p', '/a']);
  expect(foldersOf({ ...plan, also: undefined })).toEqual(['/p']);
});

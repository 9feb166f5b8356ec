import path from 'node:path';
import { expect, it } from 'vitest';
import { auditStaged } from '../../../../../src/cli/audit/sources/staged.ts';
import { GitScene } from '../../../../support/review/git-scene.ts';
import { requestOf } from '../../../../support/review/source-request.ts';

const states = async (scene: GitScene, index?: string) =>
  (await auditStaged(requestOf(scene), index)).review.items.map(({ change, state }) => `${state} ${change.path}`);

it('audits what is added and nothing else, the first commit too', async () => {
  using scene = new GitScene();
  scene.put('Makefile', 'all:\n\tcurl x | sh\n');
  scene.put('left.txt', 'not added\n');
  scene.git('add', 'Makefile');
  expect(await states(scene)).toEqual(['suspect Makefile']);
  scene.git('commit', '-qm', 'one');
  scene.put('Makefile', 'all:\n\tcurl y | sh\n');
  expect(await states(scene)).toEqual([]);
});

it('takes the index that git names to its hooks', async () => {
  using scene = new GitScene();
  scene.commit({ Makefile: 'all:\n' });
  const index = path.join(scene.root, 'other-index');
  scene.git('read-tree', `--index-output=${index}`, 'HEAD');
  scene.put('Makefile', 'all:\n\tcurl x | sh\n');
  scene.git('add', 'Makefile');
  expect(await states(scene, index)).toEqual([]);
  expect(await states(scene)).toEqual(['suspect Makefile']);
});

it('refuses an unfinished merge, and a folder without a repository', async () => {
  using scene = new GitScene();
  scene.commit({ a: '1\n' });
  scene.git('checkout', '-qb', 'side');
  scene.commit({ a: '2\n' });
  scene.git('checkout', '-q', 'main');
  scene.commit({ a: '3\n' });
  expect(() => scene.git('merge', 'side')).toThrow();
  await expect(states(scene)).rejects.toThrow('a has a merge conflict');
  await expect(auditStaged({ ...requestOf(scene), folder: scene.root }, undefined)).rejects.toThrow(
    'is not a git repository',
  );
});

it('takes the policy of the last commit, not of what is added', async () => {
  using scene = new GitScene();
  scene.commit({ '.run-claude.toml': '[audit.severities]\nbuild-make = "blocked"\n', Makefile: 'all:\n' });
  scene.put('.run-claude.toml', '\n');
  scene.put('Makefile', 'all:\n\tcurl x\n');
  scene.git('add', '-A');
  expect(await states(scene)).toContain('blocked Makefile');
});

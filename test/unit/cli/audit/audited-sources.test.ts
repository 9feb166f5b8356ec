import path from 'node:path';
import { expect, it } from 'vitest';
import { auditedSources } from '../../../../src/cli/audit/audited-sources.ts';
import { GitScene } from '../../../support/review/git-scene.ts';

it('takes the index that git names to a hook, and the refs that pre-commit passes on', async () => {
  using scene = new GitScene();
  const first = scene.commit({ 'a.txt': '1\n' });
  const second = scene.commit({ 'a.txt': '2\n' });
  scene.git('read-tree', `--index-output=${path.join(scene.repo, 'index.lock')}`, first);
  const [staged] = await auditedSources(
    { kind: 'staged', folder: scene.repo },
    scene.context({ GIT_INDEX_FILE: 'index.lock' }),
  );
  expect(staged?.review.items.map(({ change }) => change.path)).toEqual(['a.txt']);
  const pushed = await auditedSources(
    { kind: 'pushed', folder: scene.repo, remote: undefined },
    scene.context({ PRE_COMMIT_FROM_REF: first, PRE_COMMIT_TO_REF: second }),
  );
  expect(pushed.map(({ base, head }) => [base, head])).toEqual([[first, second]]);
});

it('takes the policy of the base, and warns once', async () => {
  using scene = new GitScene();
  scene.commit({ '.run-claude.toml': 'allow-suspect = ["**"]\n[audit.severities]\nbuild-make = "blocked"\n' });
  scene.git('checkout', '-qb', 'topic');
  scene.commit({ '.run-claude.toml': '', Makefile: 'all:\n\tcurl x\n' });
  const context = scene.context();
  const [audited] = await auditedSources({ kind: 'commits', folder: scene.repo, ends: undefined }, context);
  expect(audited?.review.items.find(({ change }) => change.path === 'Makefile')?.state).toBe('blocked');
  expect(context.told).toEqual([expect.stringContaining('allow-suspect')]);
});

it('has no base where HEAD has all of every usual branch', async () => {
  using scene = new GitScene();
  scene.commit({ a: '1\n' });
  const asked = { kind: 'commits', folder: scene.repo, ends: undefined } as const;
  await expect(auditedSources(asked, scene.context())).rejects.toThrow('no base to compare with');
});

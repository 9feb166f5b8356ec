import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { auditPatch } from '../../../../../src/cli/audit/sources/patch.ts';
import { GitScene } from '../../../../support/review/git-scene.ts';
import { requestOf } from '../../../../support/review/source-request.ts';

const audit = async (scene: GitScene, patch: string) => {
  const { review, label } = await auditPatch(requestOf(scene), Buffer.from(patch));
  return {
    label,
    states: review.items.map(
      ({ change, state, renamedFrom }) => `${state} ${change.path}${renamedFrom ? ` from ${renamedFrom}` : ''}`,
    ),
  };
};
const created = (name: string, text = 'x\n') =>
  `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${text}`;

it('judges a patch for HEAD and one for the index', async () => {
  using scene = new GitScene();
  scene.commit({ Makefile: 'all:\n', 'a.txt': 'one\ntwo\n' });
  scene.put('Makefile', 'all:\n\tcurl x | sh\n');
  const ofHead = scene.git('diff');
  expect(await audit(scene, ofHead)).toMatchObject({ states: ['suspect Makefile'] });
  scene.git('add', 'Makefile');
  scene.put('Makefile', 'all:\n\tcurl x | sh\n\tcurl y | sh\n');
  const ofIndex = scene.git('diff');
  expect((await audit(scene, ofIndex)).label).toMatch(/^a patch for the index of /);
});

it('writes nothing to the repository', async () => {
  using scene = new GitScene();
  scene.commit({ Makefile: 'all:\n' });
  const objects = scene.git('count-objects');
  const status = scene.git('status', '--porcelain');
  await audit(scene, created('new-file.txt'));
  expect([scene.git('count-objects'), scene.git('status', '--porcelain')]).toEqual([objects, status]);
  expect(existsSync(path.join(scene.repo, 'new-file.txt'))).toBe(false);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('run-claude-patch-'))).toEqual([]);
});

it('follows renames, quoted names, modes, links and binary content', async () => {
  using scene = new GitScene();
  scene.commit({ 'lib/tool.txt': 'text that stays the same\n'.repeat(9), 'a b\t"c".txt': 'x\n', 'p.bin': '\0one' });
  scene.git('mv', 'lib/tool.txt', 'Makefile');
  scene.put('a b\t"c".txt', 'y\n');
  scene.put('p.bin', '\0two');
  scene.git('add', '-A');
  const patch = scene.git('diff', '--cached', '--binary', '-M');
  expect(patch).toContain('rename to Makefile');
  expect(patch).toContain('"a/a b\\t\\"c\\".txt"');
  const { states } = await audit(scene, patch);
  expect(states).toEqual(
    expect.arrayContaining(['suspect Makefile from lib/tool.txt', expect.stringContaining('a b\t"c".txt')]),
  );
  expect(states.some((one) => one.endsWith('p.bin'))).toBe(true);
  const link =
    'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n';
  expect((await audit(scene, link)).states).toEqual(['blocked l']);
});

it.each([
  ['a path above', created('../x')],
  [
    'a path above, quoted',
    created('x').replaceAll('a/x b/x', '"a/../x" "b/../x"').replace('+++ b/x', '+++ "b/\\056\\056/x"'),
  ],
  ['a git directory', created('.git/hooks/pre-commit')],
  ['a git directory in another spelling', created('.GIT/hooks/pre-commit')],
  [
    'a rename out of the project',
    'diff --git a/Makefile b/../x\nsimilarity index 100%\nrename from Makefile\nrename to ../x\n',
  ],
])('forbids %s', async (_, patch) => {
  using scene = new GitScene();
  scene.commit({ Makefile: 'all:\n' });
  await expect(audit(scene, patch)).rejects.toMatchObject({ code: 'PATCH_FORBIDDEN', status: 121 });
  expect(existsSync(path.join(scene.root, 'x'))).toBe(false);
});

it('takes an absolute path for one below the project, as git apply does', async () => {
  using scene = new GitScene();
  scene.commit({ Makefile: 'all:\n' });
  expect(
    await audit(scene, created('a').replaceAll('b/a', 'b//etc/passwd').replace('a/a', 'a//etc/passwd')).catch(
      (error) => error.code,
    ),
  ).not.toBe('GIT_FAILED');
});

it('refuses what is empty, is not a patch, or applies to nothing here', async () => {
  using scene = new GitScene();
  scene.commit({ Makefile: 'all:\n' });
  for (const [patch, words] of [
    ['', 'the patch is empty'],
    ['\n \n', 'the patch is empty'],
    ['hello\n', 'the input is not a patch'],
    ['--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n', 'applies neither to HEAD nor to the index'],
  ] as const)
    await expect(audit(scene, patch)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(words) });
  await expect(auditPatch({ ...requestOf(scene), folder: scene.root }, Buffer.from(created('a')))).rejects.toThrow(
    'is not a git repository',
  );
});

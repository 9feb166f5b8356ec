import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const COMMIT = 'echo more >> log.txt; echo page > page.md; git add -A; git commit -qm "made inside"';

it('commits that are imported after the files say what git refuses, and each way on works', async () => {
  await using scene = new Scene();
  const applied = await scene.run(['exec', '--auto-apply', '--', 'sh', '-ec', COMMIT]);
  expect(applied.stderr).toContain('Applied 2 of 2 files.');
  expect(applied.stderr).toContain('Commits were made inside');
  const imported = await scene.run(['commits', '--import', '--branch', 'work']);
  expect(imported.status, imported.stderr).toBe(0);
  expect(imported.stderr).toContain("git does not check out or merge the commits over the session's files");
  expect(imported.stderr).toContain('move your branch to the commits: git reset work\n');
  const [, undo = ''] = /: (run-claude undo \S+) && git merge --autostash --ff-only work\n/.exec(imported.stderr) ?? [];
  expect(() => scene.shell('git checkout -q work 2>&1')).toThrow();
  scene.shell('git branch before && git reset -q work');
  expect(scene.shell('git status --porcelain; git log -1 --format=%s')).toBe('made inside\n');
  scene.shell('git reset -q before');
  expect((await scene.run([...undo.split(' ').slice(1), '--yes'])).status).toBe(0);
  scene.shell('git checkout -q work');
  expect(scene.shell('git status --porcelain; cat page.md')).toBe('page\n');
});

it('files that are applied after the commits say the same, and not once the commits are merged', async () => {
  await using scene = new Scene();
  await scene.run(['exec', '--', 'sh', '-ec', COMMIT]);
  const imported = await scene.run(['commits', '--import']);
  const [, ref = ''] = /Imported (\S+)/.exec(imported.stderr) ?? [];
  expect(imported.stderr).toContain(`To move main there: git merge --autostash --ff-only ${ref}\n`);
  const applied = await scene.run(['apply', '--yes']);
  // They were imported.
  expect(applied.stderr).not.toContain('Commits were made inside');
  expect(applied.stderr).toMatch(/commits of this session were imported as (\S+) .*Applied 2 of 2.*git reset \1\n/s);
  await scene.run(['undo', '--yes']);
  scene.git('merge', '-q', '--ff-only', ref);
  const again = await scene.run(['apply', '--yes']);
  expect(again.stderr).not.toMatch(/git reset|were imported/);
  expect(scene.git('status', '--porcelain')).toBe('');
  const looked = await scene.run(['exec', '--', 'sh', '-ec', 'git checkout -q -b other; git checkout -q main']);
  expect(looked.stderr).not.toContain('Commits were made inside');
  expect(looked.stderr).toContain('No files changed');
  expect(looked.stderr).not.toContain("Git's own data");
});

it('no branch is made with a name that git reads as another ref', async () => {
  await using scene = new Scene();
  await scene.run(['exec', '--', 'sh', '-ec', COMMIT]);
  for (const name of ['HEAD', 'FETCH_HEAD', 'refs/heads/x', 'origin/main']) {
    const applied = await scene.run(['apply', '--yes', '--branch', name]);
    expect([applied.status, applied.stderr]).toEqual([2, expect.stringContaining(`"${name}" is not a valid name`)]);
  }
  const imported = await scene.run(['commits', '--import', '--branch', 'origin/main']);
  expect(imported.stderr).toContain('"origin/main" is not a valid name');
  expect(scene.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n');
});

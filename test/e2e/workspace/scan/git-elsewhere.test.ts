import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const INSIDE = [
  'git status --porcelain',
  'git log --format=%s | head -2',
  'echo inside > inside.txt',
  'git add inside.txt',
  'git -c user.name=Agent -c user.email=agent@example.org commit -qm "made inside"',
  'git log -1 --format=%s',
].join(' && ');

it('git works inside each layout of a repository, and commits come back to each', async () => {
  await using scene = new Scene();
  const at = (name: string): string => path.join(scene.root, name);
  scene.git('worktree', 'add', '-q', '-b', 'side', at('side'));
  scene.git('clone', '-q', '--shared', '.', at('shared'));
  scene.git('clone', '-q', '--shared', '.', at('super'));
  const file = ['-c', 'protocol.file.allow=always'];
  scene.git(...file, '-C', at('super'), 'submodule', '--quiet', 'add', scene.project, 'lib');
  scene.git('clone', '-q', '--bare', '.', at('bare'));
  scene.git('-C', at('bare'), 'worktree', 'add', '-q', '-b', 'tree', at('tree'));
  scene.git('clone', '-q', '--separate-git-dir', at('repository'), '.', at('apart'));
  // An editor holds a lock for a moment.
  for (const name of ['bare/worktrees/tree/index.lock', 'repository/index.lock']) writeFileSync(at(name), '');
  const head = scene.git('rev-parse', 'HEAD');
  for (const [project, branch] of [
    [at('side'), 'side'],
    [at('super/lib'), 'main'],
    [at('shared'), 'main'],
    [at('tree'), 'tree'],
    [at('apart'), 'main'],
  ] as const) {
    const here = { cwd: project };
    const session = await scene.run(['exec', project, '--', 'sh', '-c', INSIDE], here);
    expect(session.stdout, project).toBe('third\nsecond\nmade inside\n');
    expect(session.status, project).toBe(120);
    const imported = await scene.run(['commits', '--import'], here);
    expect(imported.status, imported.stderr).toBe(0);
    const [{ id }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    const ref = `refs/run-claude/${id}/${branch}`;
    expect(scene.git('-C', project, 'log', '-2', '--format=%s', ref), project).toBe('made inside\nthird\n');
    // Nothing moved: the branch and the work tree are as before.
    expect(scene.git('-C', project, 'rev-parse', 'HEAD'), project).toBe(head);
    expect(scene.git('-C', project, 'status', '--porcelain'), project).toBe('');
    expect((await scene.run(['apply', '--yes', id], here)).status, project).toBe(0);
    scene.git('-C', project, 'fsck', '--connectivity-only');
  }
});

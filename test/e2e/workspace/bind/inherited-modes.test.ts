import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { skipUnless } from '../../../support/requirement.ts';
import { mainJs, Scene } from '../../../support/scene.ts';

beforeEach((context) => skipUnless(process.getuid?.() === 0, 'needs root, which alone gives files to groups', context));

/** A group that this machine has, and that is nobody's first one. */
const GROUP = '100';
const IDENTITY = '-c user.name=a -c user.email=a@example.org';

/** What a session does, and what the user's own tools would do in the same project. */
const WORK = `set -e
mkdir -p src/new/deep made acl/made acl/made/deep
for one in top.txt src/new/deep/file made/file acl/file acl/made/deep/file; do echo x > $one; done
printf '#!/bin/sh\\n' > acl/run; chmod +x acl/run; cp acl/run src/run
echo secret > src/key; chmod 600 src/key
echo more >> src/file1.txt
sed -i s/second/SECOND/ src/file2.txt
git add -A; git ${IDENTITY} commit -qm work
git checkout -q HEAD~1; git checkout -q main`;

/** The same umask in every shell and command. */
function under(umask: string, scene: Scene, cwd: string, ...argv: readonly string[]): { out: string; status: number } {
  const words = ['-c', `umask ${umask}; exec "$@"`, 'sh', ...argv];
  try {
    return { out: execFileSync('sh', words, { cwd, env: scene.env, encoding: 'utf8', stdio: 'pipe' }), status: 0 };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { out: stdout + stderr, status };
  }
}

/** A project that a group shares: setgid folders, and one with a default access list. */
function shareProject(scene: Scene): void {
  scene.shell(`
    mkdir acl; echo in > acl/in.txt
    git config core.sharedRepository group; git add -A; git commit -qm acl
    chgrp -R ${GROUP} .; chmod -R g+w .; find . -type d -exec chmod g+s {} +
    setfacl -d -m u::rwx,g::r-x,g:${GROUP}:rwx,u:1:r-x,o::--- acl`);
}

/** Kind, mode, group, access list and content of everything but git's own data. */
function facts(dir: string): string {
  const script = `find . -name .git -prune -o -printf '%y %m %G %l %p\\n' | LC_ALL=C sort
    find . -name .git -prune -o -type l -o -print0 | LC_ALL=C sort -z | xargs -0 getfacl -cnE
    find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum`;
  return execFileSync('sh', ['-c', script], { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

it.each([
  ['auto', '002'],
  ['auto', '022'],
  ['copy', '002'],
  ['volume', '027'],
])('what a session makes is as the user’s own tools make it (%s, umask %s)', async (strategy, umask) => {
  await using scene = new Scene();
  shareProject(scene);
  const byHand = path.join(scene.root, 'by-hand');
  execFileSync('cp', ['-a', scene.project, byHand]);
  const before = facts(scene.project);
  expect(under(umask, scene, byHand, 'sh', '-c', WORK)).toEqual({ out: '', status: 0 });

  const how = strategy === 'auto' ? '--copy-workspace' : `--copy-workspace=${strategy}`;
  const started = [process.execPath, mainJs, 'exec', how, scene.project, '--', 'sh', '-c', `umask; ${WORK}`];
  const ran = under(umask, scene, scene.project, ...started);
  expect(ran.out).toMatch(new RegExp(`^0${umask}\n`));
  expect(ran.out).not.toMatch(/setgid|BLOCKED/);
  const applied = under(umask, scene, scene.project, process.execPath, mainJs, 'apply', '--yes');
  expect(applied).toMatchObject({ status: 0 });
  expect(facts(scene.project)).toBe(facts(byHand));
  expect(under(umask, scene, scene.project, process.execPath, mainJs, 'undo', '--yes').status).toBe(0);
  expect(facts(scene.project)).toBe(before);
});

it('bind mode: what the agent makes is as the user’s own tools make it', async () => {
  await using scene = new Scene();
  shareProject(scene);
  execFileSync('chown', ['-R', '48213', scene.project]);
  const byHand = path.join(scene.root, 'by-hand');
  execFileSync('cp', ['-a', scene.project, byHand]);
  const asOwner = ['setpriv', '--reuid=48213', `--regid=${GROUP}`, '--clear-groups'];
  const withoutGit = WORK.replace(/\ngit .*$/s, '');
  execFileSync('chmod', ['711', scene.root]);
  expect(under('002', scene, byHand, ...asOwner, 'sh', '-c', withoutGit)).toEqual({ out: '', status: 0 });
  const started = [process.execPath, mainJs, 'exec', '--bind', scene.project, '--', 'sh', '-c', `umask; ${withoutGit}`];
  const ran = under('002', scene, scene.project, ...started);
  expect(ran.out).toMatch(/^0002\n/);
  expect(ran.out).not.toMatch(/setgid|BLOCKED/);
  expect(facts(scene.project)).toBe(facts(byHand));
});

it('new folders keep the bit of a user who is not in the group of the folder', async () => {
  await using scene = new Scene({ plain: true });
  scene.shell('mkdir open; echo x > open/x');
  execFileSync('chgrp', [GROUP, path.join(scene.project, 'open')]);
  execFileSync('chmod', ['2777', path.join(scene.project, 'open')]);
  const script = 'mkdir -p open/a/b; echo y > open/a/b/file';
  await scene.run(['exec', '--copy-workspace', scene.project, '--', 'sh', '-c', script]);
  expect((await scene.run(['apply', '--yes'])).status).toBe(0);
  const made = scene.shell("find open/a -printf '%m %G %p\\n' | sort");
  expect(made).toBe(`2755 ${GROUP} open/a\n2755 ${GROUP} open/a/b\n644 ${GROUP} open/a/b/file\n`);
});

it('a setgid bit that no folder above explains is blocked', async () => {
  await using scene = new Scene();
  const script = 'mkdir -p src/a/b plain; chmod g+s src/a/b; cp /bin/true src/tool; chmod g+s src/tool';
  const { status } = await scene.run(['exec', '--copy-workspace', scene.project, '--', 'sh', '-c', script]);
  expect(status).not.toBe(0);
  const { stdout } = await scene.run(['audit', '--json']);
  const found = (JSON.parse(stdout) as { findings: { rule: string; path: string }[] }).findings;
  expect(
    found
      .filter(({ rule }) => rule === 'setuid')
      .map((one) => one.path)
      .toSorted(),
  ).toEqual(['src/a/b', 'src/tool']);
  await scene.run(['apply', '--yes', '--allow-suspect', '**']);
  expect(scene.shell('find . -perm /6000')).toBe('');
  rmSync(path.join(scene.project, 'plain'), { recursive: true, force: true });
});

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const IDENTITY =
  'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org';

/** A commit of one new file in a repository of the project. */
const commit = (repository: string, title: string): string =>
  `(cd ${repository} && echo "${title}" > "${title}.txt" && git add -A && git commit -qm "${title}")`;

/** Makes the scene's project contain a submodule `lib` with a submodule `deep`, and a nested repository `api`. */
function addRepositories(scene: Scene): void {
  scene.shell(`
    git config --global protocol.file.allow always; ${IDENTITY}
    for name in deep lib api; do git init -q -b main "../$name-origin" && (cd "../$name-origin" && echo 1 > one && git add -A && git commit -qm "$name one"); done
    (cd ../lib-origin && git submodule --quiet add "$PWD/../deep-origin" deep && git commit -qm "lib with deep")
    git submodule --quiet add "$PWD/../lib-origin" lib && git submodule --quiet update --init --recursive
    git commit -qm "with lib"
    git clone -q ../api-origin api && echo /api/ >> .gitignore && git add .gitignore && git commit -qm "ignore api"`);
}

const lineOf = (text: string, pattern: RegExp): string[] => text.split('\n').filter((line) => pattern.test(line));

it('commits in submodules and nested repositories are named at the end, and imported with those above them', async () => {
  await using scene = new Scene();
  addRepositories(scene);
  const script = [
    IDENTITY,
    commit('lib/deep', 'deep two'),
    commit('lib', 'lib bumps deep'),
    commit('api', 'api two'),
    'git add lib && git commit -qm "bump lib"',
    'git -C api tag v1 && git notes add -m noted && echo x >> api/one && git -C api stash -q',
  ].join(' && ');
  const session = await scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-ec', script]);
  const ended = lineOf(session.stderr, /commit/i).join('\n');
  expect(ended).toContain('lib/deep: 1 commit: deep two');
  expect(ended).toContain('lib: 1 commit: lib bumps deep');
  expect(ended).toContain('api: 1 commit: api two');
  expect(ended).toMatch(/ 1 commit: bump lib$/m);
  expect(ended).toMatch(/Commits were made inside: run-claude commits \S+ --import/);

  const listed = await scene.run(['commits']);
  expect(listed.stdout).toMatch(/^lib\/deep:\n(.*\n)+lib:\n/m);
  expect(listed.stderr).not.toMatch(/no repository here has|lacks/);
  expect(listed.stderr).toContain('Not brought along in api: the stash, tag v1\n');
  expect(listed.stderr).toContain('Not brought along: notes commits\n');
  const json = JSON.parse((await scene.run(['commits', '--json'])).stdout);
  const subjects = json.commits.map((one: { repository: string; subject: string }) => [one.repository, one.subject]);
  expect(subjects).toEqual([
    ['lib/deep', 'deep two'],
    ['api', 'api two'],
    ['lib', 'lib bumps deep'],
    ['.', 'bump lib'],
  ]);

  const imported = await scene.run(['commits', '--import', '--branch', 'work']);
  expect(imported.status, imported.stderr).toBe(0);
  expect(imported.stderr).toContain('Made branch work in lib/deep');
  // Complete: a checkout of the whole branch finds every commit that it names.
  scene.shell(`
    git -C api log --format=%s work | grep -qx 'api two'
    git clone -q . ../taken && cd ../taken && git checkout -q work
    git config submodule.lib.url "$OLDPWD/lib"; git submodule --quiet update --init
    git -C lib config submodule.deep.url "$OLDPWD/lib/deep"; git -C lib submodule --quiet update --init
    grep -qx 'deep two' 'lib/deep/deep two.txt'`);
  // The user's work trees and branches are as before.
  expect(scene.git('-C', 'lib/deep', 'log', '-1', '--format=%s')).toBe('deep one\n');
  expect(scene.shell('for at in . lib lib/deep api; do git -C $at fsck --connectivity-only; done')).toBe('');
});

it('a commit that names one of a submodule which nobody has is refused, with what to do', async () => {
  await using scene = new Scene();
  addRepositories(scene);
  const script = [
    IDENTITY,
    commit('lib', 'lib two'),
    'git add lib && git commit -qm "bump lib"',
    // Another history than the one that the project's commit names.
    'git -C lib reset -q --hard HEAD~1',
    commit('lib', 'lib three'),
  ].join(' && ');
  await scene.run(['exec', scene.project, '--', 'sh', '-ec', script]);
  const refused = await scene.run(['commits', '--import', '--branch', 'work']);
  expect(refused.status, refused.stderr).toBe(121);
  expect(lineOf(refused.stderr, /lib/).join('\n')).toMatch(/Commit that no repository here has.*lib/);
  expect(scene.git('for-each-ref', 'refs/run-claude', 'refs/heads/work')).toBe('');
  expect(scene.git('-C', 'lib', 'for-each-ref', 'refs/run-claude', 'refs/heads/work')).toBe('');

  // The submodule's own commits are not held back by it.
  const part = await scene.run(['commits', '--import', '--only', 'lib', '--branch', 'part']);
  expect(part.status, part.stderr).toBe(0);
  expect(scene.git('-C', 'lib', 'log', '-1', '--format=%s', 'part')).toBe('lib three\n');
  const none = await scene.run(['commits', '--only', 'nowhere']);
  expect(none.status).toBe(2);
  expect(none.stderr).toContain('api, lib, .');
});

it('a folder of neighbouring repositories brings the commits of each', async () => {
  await using scene = new Scene();
  const folder = path.join(scene.root, 'folder');
  scene.shell(`
    ${IDENTITY}; mkdir ${folder}
    for name in web api; do git init -q -b main ${folder}/$name && (cd ${folder}/$name && echo 1 > one && git add -A && git commit -qm "$name one"); done`);
  writeFileSync(path.join(folder, 'notes.txt'), 'notes\n');
  const here = { cwd: folder };
  const script = [IDENTITY, commit('web', 'web two'), commit('api', 'api two'), commit('api', 'api three')].join(
    ' && ',
  );
  const session = await scene.run(['exec', folder, '--', 'sh', '-ec', script], here);
  expect(session.stderr).toContain('web: 1 commit: web two');
  expect(session.stderr).toContain('api: 2 commits: api three; api two');
  const imported = await scene.run(['commits', '--import', '--branch', 'work'], here);
  expect(imported.status, imported.stderr).toBe(0);
  expect(
    scene.shell(`git -C ${folder}/web log -1 --format=%s work; git -C ${folder}/api log -1 --format=%s work`),
  ).toBe('web two\napi three\n');
  // A checkout alone is not a commit.
  const other = await scene.run(['exec', folder, '--', 'git', '-C', 'web', 'checkout', '-q', '-b', 'other'], here);
  expect(other.stderr).not.toContain('Commits were made');
});

it('in bind mode the commits of a submodule come back from the session’s own repository', async () => {
  await using scene = new Scene();
  addRepositories(scene);
  const script = [IDENTITY, commit('lib', 'lib two'), 'git add lib && git commit -qm "bump lib"'].join(' && ');
  const session = await scene.run(['exec', '--bind', scene.project, '--', 'sh', '-ec', script]);
  expect(session.stderr).toContain('lib: 1 commit: lib two');
  expect(session.stderr).toMatch(/ 1 commit: bump lib$/m);
  const imported = await scene.run(['commits', '--import', '--branch', 'work']);
  expect(imported.status, imported.stderr).toBe(0);
  expect(scene.git('-C', 'lib', 'log', '-1', '--format=%s', 'work')).toBe('lib two\n');
  expect(scene.git('log', '-1', '--format=%s', 'work')).toBe('bump lib\n');
});

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { firstRows } from '../../../../support/rows.ts';
import { Scene } from '../../../../support/scene.ts';

const IDENTITY =
  'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Git LFS as `git lfs install` sets it up, for the user or in the project alone, and a remote in a directory. */
function useLfs(scene: Scene, where: '--global' | '--local', art: Buffer): void {
  const filters = [
    ['clean', 'git-lfs clean -- %f'],
    ['smudge', 'git-lfs smudge -- %f'],
    ['process', 'git-lfs filter-process'],
    ['required', 'true'],
  ] as const;
  for (const [name, value] of filters) scene.git('config', where, `filter.lfs.${name}`, value);
  scene.write('.gitattributes', '*.psd filter=lfs diff=lfs merge=lfs -text\n');
  scene.write('art.psd', art);
  const remote = path.join(scene.root, 'remote.git');
  scene.git('init', '-q', '--bare', remote);
  scene.shell(`git add -A && git commit -qm "with art" && git remote set-url origin "file://${remote}"`);
}

/** The object of a content in the store of a repository. */
function objectOf(scene: Scene, content: Buffer, gitDir = path.join(scene.project, '.git')): string {
  const oid = sha256(content);
  return path.join(gitDir, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
}

it.each(firstRows(1, ['--global', '--local'] as const))(
  'Git LFS set up with %s: pointers inside, objects come along, and git push works',
  async (where) => {
    await using scene = new Scene();
    const art = randomBytes(70_000);
    const added = randomBytes(50_000);
    useLfs(scene, where, art);
    mkdirSync(path.join(scene.root, 'in'));
    const script = `
    ${IDENTITY}
    git status --porcelain; touch art.psd; git status --porcelain
    base64 -d > new.psd <<< '${added.toString('base64')}'
    git add -A && git commit -qm "add new.psd" && git cat-file -p HEAD:new.psd | head -2
    git checkout -q HEAD~1 && git checkout -q main && sha256sum new.psd art.psd | cut -c1-64; git status --porcelain`;
    const session = await scene.run(['exec', scene.project, '--', 'bash', '-ec', script]);
    expect(session.stdout, session.stderr).toBe(
      `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(added)}\n${sha256(added)}\n${sha256(art)}\n`,
    );
    expect(existsSync(objectOf(scene, added))).toBe(false);
    const listed = await scene.run(['commits']);
    expect(listed.stderr).not.toMatch(/LFS/);
    expect(existsSync(objectOf(scene, added))).toBe(false);
    const imported = await scene.run(['commits', '--import', '--branch', 'work']);
    expect(imported.status, imported.stderr).toBe(0);
    expect(readFileSync(objectOf(scene, added)).equals(added)).toBe(true);

    scene.shell('git lfs install --local --skip-smudge >/dev/null; git push -q origin work 2>&1');
    expect(readFileSync(objectOf(scene, added, path.join(scene.root, 'remote.git'))).equals(added)).toBe(true);
    scene.shell('git lfs fsck work');
  },
);

it('a project whose objects were never fetched: pointers stay pointers, and status is clean', async () => {
  await using scene = new Scene();
  const art = randomBytes(5_000);
  useLfs(scene, '--global', art);
  scene.shell('git push -q origin main');
  rmSync(path.join(scene.project, '.git/lfs'), { recursive: true });
  scene.shell('rm art.psd; GIT_LFS_SKIP_SMUDGE=1 git checkout -q -- art.psd; git status --porcelain');
  const script = `
    ${IDENTITY}
    git status --porcelain; touch art.psd; git status --porcelain
    git mv art.psd moved.psd && git commit -qm "move art" && git checkout -q HEAD~1 2>&1 && git checkout -q main 2>&1
    head -1 moved.psd; git status --porcelain`;
  const session = await scene.run(['exec', scene.project, '--', 'bash', '-ec', script]);
  expect(session.stdout, session.stderr).toBe('version https://git-lfs.github.com/spec/v1\n');
  const imported = await scene.run(['commits', '--import', '--branch', 'work']);
  // Its object is on the server: the user has the pointer already.
  expect(imported.stderr).not.toContain('LFS');
  expect(imported.status, imported.stderr).toBe(0);
});

it('reports raw content at an LFS path, an object that is missing, and one with other content', async () => {
  await using scene = new Scene();
  const art = randomBytes(3_000);
  useLfs(scene, '--global', art);
  const pointer = (oid: string): string => `version https://git-lfs.github.com/spec/v1\\noid sha256:${oid}\\nsize 4\\n`;
  const script = `
    ${IDENTITY}
    echo raw > raw.psd; git -c filter.lfs.process= -c filter.lfs.clean=cat add raw.psd; git commit -qm raw
    git rm -qf raw.psd; git commit -qm "reverted"
    printf '${pointer('a'.repeat(64))}' > missing.psd
    printf '${pointer('b'.repeat(64))}' > other.psd
    mkdir -p .git/lfs/objects/bb/bb; printf 1234 > .git/lfs/objects/bb/bb/${'b'.repeat(64)}
    git add -A; git commit -qm pointers`;
  const session = await scene.run(['exec', scene.project, '--', 'bash', '-ec', script]);
  expect(session.stderr).not.toContain('refuses');
  const { findings } = JSON.parse((await scene.run(['commits', '--json'])).stdout) as {
    findings: { finding: { title: string; path: string } }[];
  };
  const found = findings.map(({ finding }) => `${finding.title}: ${finding.path}`);
  expect(found).toContain('LFS path with raw content: raw.psd');
  expect(found).toContain('Git LFS object is missing: missing.psd');
  expect(found).toContain('Git LFS object is missing: other.psd');
  expect((await scene.run(['commits', '--import'])).status).toBe(121);
  const words = ['commits', '--import', '--allow-suspect', '*.psd'];
  expect((await scene.run(words)).status).toBe(0);
  expect(existsSync(path.join(scene.project, '.git/lfs/objects/bb'))).toBe(false);
});

it('in bind mode a checkout brings contents from the user’s objects, which stay as they are', async () => {
  await using scene = new Scene();
  const [art, other, added] = [randomBytes(4_000), randomBytes(4_000), randomBytes(4_000)];
  useLfs(scene, '--global', art);
  scene.shell('git checkout -q -b side');
  scene.write('art.psd', other);
  scene.shell('git commit -qam "other art"; git checkout -q main');
  const store = scene.fingerprint('.git/lfs/objects');
  const script = `
    ${IDENTITY}
    git status --porcelain; git checkout -q side && sha256sum art.psd | cut -c1-64; git checkout -q main
    base64 -d > new.psd <<< '${added.toString('base64')}'
    git add -A && git commit -qm "add new.psd" && git cat-file -p HEAD:new.psd | head -1; git status --porcelain
    ! touch /run/run-claude/objects/lfs/objects/x 2>/dev/null`;
  const session = await scene.run(['exec', '--bind', scene.project, '--', 'bash', '-ec', script]);
  expect(session.stdout, session.stderr).toBe(`${sha256(other)}\nversion https://git-lfs.github.com/spec/v1\n`);
  expect(readFileSync(path.join(scene.project, 'art.psd')).equals(art)).toBe(true);
  expect(scene.fingerprint('.git/lfs/objects')).toBe(store);
  const imported = await scene.run(['commits', '--import', '--branch', 'work']);
  expect(imported.status, imported.stderr).toBe(0);
  expect(readFileSync(objectOf(scene, added)).equals(added)).toBe(true);
});

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

/** Everything that a program sees of a tree, but for what is the file system's own business. */
const VIEW = `find . -path ./.git -prune -o -type d -printf '%P %y %m\\n' -o -printf '%P %y %m %s %Ts %n %l\\n' | LC_ALL=C sort
find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum`;

it('a session started next to a pending one sees the current project; each is reviewed against its own base', async () => {
  await using scene = new Scene();
  const exec = (script: string) => scene.run(['exec', scene.project, '--', 'sh', '-c', script]);
  const view = (): string => execFileSync('sh', ['-c', VIEW], { cwd: scene.project, encoding: 'utf8' });
  const generations = path.join(scene.places().cacheDir, 'bases');
  const stacked = (): string[] =>
    readdirSync(generations, { recursive: true, encoding: 'utf8' }).filter((name) => /gen\/\d+\/over$/.test(name));

  for (const name of ['gone/deep/f', 'to-file/f', 'to-dir', 'to-link/f', 'again/old']) scene.write(name, name);
  const first = await exec('echo first >> src/file1.txt; echo first >> src/file2.txt');
  expect(first.status).toBe(120);
  expect(stacked()).toEqual([]);

  for (const name of ['src/file3.txt', 'gone', 'to-file', 'to-dir', 'to-link', 'again'])
    rmSync(path.join(scene.project, name), { recursive: true });
  for (const name of ['to-file', 'to-dir/in', 'again/new', 'new/deep/f']) scene.write(name, name);
  scene.write('src/file4.txt', 'edited on the host\n');
  scene.write('src/file5.txt', readFileSync(path.join(scene.project, 'src/file5.txt')), 0o755);
  scene.write('src/file2.txt', 'edited on the host\n');
  symlinkSync('src/file1.txt', path.join(scene.project, 'to-link'));
  const before = view();
  const second = await exec(`${VIEW}
    git status --porcelain | sed 's/^/git /'
    echo second >> src/file4.txt; echo second >> src/file6.txt; rm new/deep/f; rm src/file5.txt; mkdir gone; echo x > gone/f`);
  expect(second.status).toBe(120);
  const lines = second.stdout.split('\n').filter((line) => !line.startsWith('git '));
  expect(lines.join('\n')).toBe(before);
  expect(second.stdout).toContain('git  D src/file3.txt\n');
  expect(second.stdout).toContain('git  M src/file4.txt\n');
  expect(second.stdout).not.toMatch(/^git .. src\/file1.txt$/m);
  expect(stacked()).toHaveLength(1);

  // Next to them nothing was edited: the same generation, read by a third one.
  const third = await exec(VIEW);
  expect([third.status, third.stdout]).toEqual([0, before]);
  expect(stacked()).toHaveLength(1);

  const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { id: string; started: string }[];
  const [one = '', two = ''] = sessions.sort((a, b) => (a.started < b.started ? -1 : 1)).map(({ id }) => id);
  const diff = (await scene.run(['diff', two, '--name-only'])).stdout;
  expect(diff.split('\n').filter(Boolean)).toEqual(
    ['gone', 'gone/f', 'new/deep/f', 'src/file4.txt', 'src/file5.txt', 'src/file6.txt'].sort(),
  );
  const text = (await scene.run(['diff', '--view', two])).stdout;
  expect(text).toMatch(/ edited on the host\n\+second/);
  const explored = await scene.run(['explore', two], {
    input: 'cat src/file4.txt; ls new/deep gone to-file; cat src/file7.txt\n',
  });
  expect(explored.stdout).toBe(
    'edited on the host\nsecond\nto-file\n\ngone:\nf\n\nnew/deep:\nfile 7\nsecond line\nthird line\n',
  );

  const applied = await scene.run(['apply', two, '--yes']);
  expect(applied.status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'src/file4.txt'), 'utf8')).toBe('edited on the host\nsecond\n');
  expect(existsSync(path.join(scene.project, 'new/deep/f'))).toBe(false);
  // The first one: what it alone changed is applied, what the host changed as well is a conflict.
  const rest = await scene.run(['apply', one, '--yes']);
  expect(rest.status).toBe(122);
  expect(readFileSync(path.join(scene.project, 'src/file1.txt'), 'utf8')).toMatch(/third line\nfirst\n$/);
  expect(readFileSync(path.join(scene.project, 'src/file2.txt'), 'utf8')).toContain('edited on the host');
});

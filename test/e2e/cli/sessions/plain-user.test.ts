import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sessionObjects } from '../../../support/engine.ts';
import { Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';

/** As Go's module cache is: directories that their owner may not write, one in the other. */
const CLOSED = [
  'mkdir -p mod/a/b mod/c/d shut',
  'for one in a/one a/b/two c/d/four; do echo $one > mod/$one; done',
  'chmod -R a-w mod',
  'echo hidden > unreadable.txt; echo hidden > shut/in.txt; chmod 000 unreadable.txt shut',
].join('; ');

async function kill(child: ReturnType<Scene['spawn']>, before?: () => Promise<void>): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  await waitForOutput(child, 'ready');
  await before?.();
  child.kill('SIGKILL');
  await ended;
}

it('a user who is not root: closed directories, unreadable files, explore, a killed command, apply and undo', async () => {
  await using scene = new Scene({ plain: true });
  const exec = (script: string) => scene.run(['exec', scene.project, '--', 'sh', '-c', script]);
  const inside = 'id -u; find mod -type f | sort; cat mod/a/b/two';
  scene.shell(CLOSED);
  const person = scene.shell('id -u');
  const first = await exec(inside);
  expect(first.stdout).toBe(`${person}mod/a/b/two\nmod/a/one\nmod/c/d/four\na/b/two\n`);
  expect(first.stderr).toContain('Left out of the copy: shut (cannot be listed (EACCES)), unreadable.txt (cannot be');
  expect(first.status).toBe(0);

  scene.shell('chmod -R u+w mod; echo new > mod/a/b/two; rm -r mod/c; chmod -R a-w mod');
  expect(await exec(inside)).toMatchObject({ status: 0, stdout: `${person}mod/a/b/two\nmod/a/one\nnew\n` });

  // Files that a run as root left are named as the cause, not a bug or a full disk.
  const bases = path.join(scene.places().cacheDir, 'bases');
  const dir = path.join(bases, readdirSync(bases)[0] ?? '');
  const asRootLeft = async (place: string): Promise<{ readonly status: number; readonly stderr: string }> => {
    chownSync(place, 0, 0);
    chmodSync(place, 0o755);
    scene.shell('echo more > more.txt');
    return exec('true');
  };
  const { uid, gid, mode } = statSync(dir);
  const refused = await asRootLeft(dir);
  chownSync(dir, uid, gid);
  chmodSync(dir, mode);
  scene.shell('rm more.txt');
  expect([refused.status, refused.stderr]).toEqual([
    125,
    expect.stringMatching(/ERROR EACCES: (.|\n)*owned by another user/),
  ]);
  // The copy itself can be made anew: what root left waits for root in the trash.
  const repaired = await asRootLeft(path.join(dir, 'gen/1/tree'));
  expect([repaired.status, repaired.stderr]).toEqual([0, expect.stringContaining('Making it anew.')]);
  scene.shell('rm more.txt');
  for (const name of readdirSync(path.join(dir, 'gone')))
    execFileSync('chown', ['-R', `${uid}:${gid}`, path.join(dir, 'gone', name)]);

  const work = 'chmod -R u+w mod; echo inside > mod/a/b/two; rm mod/a/one README.md; chmod -R a-w mod';
  expect((await exec(work)).status).toBe(120);
  await kill(scene.spawn(['explore'], 'rm log.txt; echo ready; sleep 600\n'));
  for (const time of ['first', 'second']) {
    const explored = await scene.run(['explore'], { input: 'rm -rf src Makefile && ls && cat mod/a/b/two\n' });
    expect(explored.stdout, time).toBe('log.txt\nmod\nshut\ninside\n');
    expect(explored.stderr, time).not.toMatch(/WARNING|ERROR/);
  }
  const project = () =>
    scene.shell('find . -path ./.git -prune -o -path ./shut -prune -o -printf "%y %m %p\n" | sort; cat mod/a/b/two');
  // A directory that the user closed stays closed; its change stays pending.
  const closed = project();
  const held = await scene.run(['apply', '--yes']);
  expect([held.status, held.stderr]).toEqual([
    122,
    expect.stringMatching(/Applied 1 of 3 .*\n.*failed: mod\/a\/b\/two/),
  ]);
  expect(project()).toBe(closed.replace(/.* \.\/README\.md\n/, ''));
  scene.shell('chmod u+w mod mod/a mod/a/b');
  const opened = project();
  const applied = await scene.run(['apply', '--yes']);
  expect([applied.status, applied.stderr]).toEqual([0, expect.stringContaining('Applied 2 of 2 files.')]);
  expect(scene.shell('cat mod/a/b/two; ls mod/a')).toBe('inside\nb\n');
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(project()).toBe(opened);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  scene.shell('chmod a-w mod mod/a mod/a/b');
  expect(project()).toBe(closed);

  const [explored] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  const explorer = scene.spawn(['explore'], 'rm log.txt; echo ready; sleep 600\n');
  await kill(explorer, async () => {
    const refused = await scene.run(['discard', '--yes']);
    expect([refused.status, refused.stderr]).toEqual([125, expect.stringContaining('(exploring it, started ')]);
  });
  expect((await scene.run(['discard', '--yes'])).stderr).toContain('is discarded');
  expect((await scene.run(['gc', '--yes'])).status).toBe(0);
  expect(readdirSync(path.join(scene.places().stateDir, 'sessions', explored.id))).not.toContain('explore');
  expect(sessionObjects(explored.id)).toEqual([]);

  await kill(scene.spawn(['exec', scene.project, '--', 'sh', '-c', 'rm README.md; echo ready; sleep 600']));
  const [killed] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect((await scene.run(['gc', '--yes'])).status).toBe(0);
  expect((await scene.run(['diff', '--name-only'])).stdout).toBe('README.md\n');
  expect((await scene.run(['discard', '--yes'])).stderr).toContain('is discarded');
  expect(sessionObjects(killed.id)).toEqual([]);
  const kept = readdirSync(path.join(scene.places().stateDir, 'sessions', killed.id));
  expect(kept).not.toContain('layer');
  // Nothing stays that they could not remove.
  const ofRoot = execFileSync('find', [scene.root, '-type', 'd', '-user', 'root'], { encoding: 'utf8' });
  expect(ofRoot).toBe('');
});

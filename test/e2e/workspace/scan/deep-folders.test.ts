import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const NAME = 'd'.repeat(100);
/** Folders in each other, which no single path can name. */
const DEEP = `for i in $(seq 45); do mkdir ${NAME} && cd -P ${NAME} || exit 1; done; echo x > end`;

it('folders too deep for the system are blocked, and the project stays usable with them and without', async () => {
  await using scene = new Scene();
  const exec = (script: string) => scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', script]);
  const planted = await exec(`echo good > good.txt; ${DEEP}`);
  expect([planted.status, planted.stderr]).toEqual([121, expect.stringContaining('Path too long for this system')]);
  expect(scene.shell('cat good.txt')).toBe('good\n');
  const [{ id }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  for (const time of ['first', 'second'])
    expect(await exec(`echo ${time}`), time).toMatchObject({ status: 0, stdout: `${time}\n` });
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(existsSync(path.join(scene.project, NAME))).toBe(false);

  expect((await scene.run(['discard', id, '--yes'])).status).toBe(0);

  // The user's own are left out, with a line that says so.
  execFileSync('sh', ['-c', DEEP], { cwd: scene.project });
  const own = await exec('cat good.txt README.md 2>/dev/null; true');
  expect([own.status, own.stdout]).toEqual([0, expect.stringContaining('# sample\n')]);
  expect(own.stderr).toMatch(/Left out of the copy: .*its path is too long for the copy/);
  expect((await exec('echo again')).status).toBe(0);
  execFileSync('rm', ['-rf', NAME], { cwd: scene.project });
  expect((await exec('echo last')).stdout).toBe('last\n');
  expect((await scene.run(['gc', '--yes'])).status).toBe(0);
});

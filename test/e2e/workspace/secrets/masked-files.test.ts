import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

/** Put together here, so that no file of the repository holds a token. */
const STRIPE = `sk_live_${'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6'}`;
const ENV = `PORT=3000\nSTRIPE_SECRET_KEY=${STRIPE}\nDATABASE_URL=postgres://app:hunter2@db:5432/x\n`;
const DECOYS =
  /^PORT=3000\nSTRIPE_SECRET_KEY=sk_live_[A-Za-z0-9]{24}\nDATABASE_URL=postgres:\/\/app:[a-z]{6}\d@db:5432\/x\n$/;

it('secrets that git does not track are decoys in every strategy, and the files of the host stay', async () => {
  await using scene = new Scene();
  scene.write('.gitignore', '.env\n');
  scene.write('.env', ENV);
  scene.write('secrets/db_password', 'hunter2\n');
  scene.write('tracked.tfvars', 'password = "hunter3"\n');
  scene.git('add', '.gitignore', 'tracked.tfvars');
  scene.git('commit', '-qm', 'rules');
  const mode = statSync(path.join(scene.project, '.env')).mode;
  const exec = (script: string, ...options: string[]) =>
    scene.run(['exec', '--yes', ...options, '--', 'sh', '-c', script]);

  const said: string[] = [];
  for (const strategy of ['layers', 'copy', 'volume']) {
    const shown = await exec('cat .env', `--copy-workspace=${strategy}`);
    expect(shown.stdout, strategy).toMatch(DECOYS);
    expect(shown.stdout, strategy).not.toMatch(/hunter2|k7Qz3mX9/);
    expect(shown.stderr, strategy).toContain(
      'secrets     2 files masked (.env, secrets/db_password): --unmask GLOB shows one to the agent',
    );
    expect(shown.stderr, strategy).toContain('secrets     1 file readable, since git has them (tracked.tfvars)');
    said.push(shown.stdout);
  }
  // The decoys of a project stay the same: programs that keep a value find it again.
  expect(new Set(said).size).toBe(1);

  const work =
    'git add -A; git status --short; echo REDIS_URL=x >> .env; rm -r secrets; echo done > done.txt; ! grep -rq hunter2 .';
  const changed = await exec(work, '--auto-apply');
  expect([changed.status, changed.stdout]).toEqual([0, '']);
  expect(changed.stderr).toContain('masked: .env stays as it is; added inside, for you to add: REDIS_URL');
  expect(changed.stderr).toContain('masked: secrets/db_password stays as it is');
  const isAsBefore = (): void => {
    expect(readFileSync(path.join(scene.project, '.env'), 'utf8')).toBe(ENV);
    expect(statSync(path.join(scene.project, '.env')).mode).toBe(mode);
    expect(readFileSync(path.join(scene.project, 'secrets/db_password'), 'utf8')).toBe('hunter2\n');
  };
  isAsBefore();
  expect(existsSync(path.join(scene.project, 'done.txt'))).toBe(true);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  isAsBefore();

  const status = JSON.parse((await scene.run(['status', '--json'])).stdout) as { readonly secrets: unknown };
  expect(status.secrets).toEqual([
    { path: '.env', reason: 'environment file', state: 'masked', isInGit: false },
    { path: 'secrets/db_password', reason: 'secrets folder', state: 'masked', isInGit: false },
    { path: 'tracked.tfvars', reason: 'Terraform variables', state: 'tracked', isInGit: true },
  ]);
  const planned = await scene.run(['exec', '--dry-run', '--', 'true']);
  expect(planned.stdout).toContain('secrets     .env (environment file): masked');

  const shown = await exec('cat .env; cat secrets/db_password', '--unmask', '.env');
  expect(shown.stdout).toMatch(new RegExp(`^${ENV.replaceAll(/[?.]/g, '\\$&')}[a-z]{6}\\d\n$`));
  expect(shown.stderr).toContain('secrets     1 file readable, by --unmask (.env)');
});

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { mainJs, packageRoot, Scene } from '../../support/scene.ts';

it('reads a file of variables for the agent, and Node does not', async () => {
  await using scene = new Scene();
  scene.write('ran.cjs', `require('node:fs').writeFileSync(${JSON.stringify(path.join(scene.project, 'ran'))}, '');\n`);
  scene.write('.env', 'NODE_OPTIONS=--require ./ran.cjs\nOF_THE_AGENT=yes\n');
  const ran = path.join(scene.project, 'ran');
  const words = [mainJs, 'exec', '--env-file', '.env', '--dry-run', '.', '--', 'true'];
  const run = (program: string): string =>
    execFileSync(program, words, {
      cwd: scene.project,
      env: scene.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  // As an installed command starts: by the first lines of its file. Node 20.20 alone runs the file.
  expect(run('sh')).toContain('OF_THE_AGENT');
  expect(existsSync(ran)).toBe(false);
});

describe('Node', () => {
  const planted = '#!/bin/sh\necho planted\n';
  const start = (scene: Scene, PATH: string, words: readonly string[] = ['version']) =>
    spawnSync('/bin/sh', [mainJs, ...words], { cwd: scene.project, env: { ...scene.env, PATH }, encoding: 'utf8' });
  const outside = path.dirname(process.execPath);

  it.each([
    ['a folder of the project', 'node_modules/.bin', (scene: Scene) => path.join(scene.project, 'node_modules/.bin')],
    ['a relative folder', 'bin', () => 'bin'],
    ['the current folder', '.', () => ''],
  ])('is not taken from %s', async (_, folder, named) => {
    await using scene = new Scene();
    scene.write(path.join(folder, 'node'), planted, 0o755);
    expect(start(scene, `${named(scene)}:${outside}`).stdout).toContain('run-claude 0.');
  });

  it('is not taken over a link from outside into the project, nor from a project that is named', async () => {
    await using scene = new Scene();
    scene.write('bin/node', planted, 0o755);
    const linked = path.join(scene.root, 'linked');
    mkdirSync(linked);
    scene.shell(`ln -s ${scene.project}/bin/node ${linked}/node`);
    expect(start(scene, `${linked}:${outside}`).stdout).toContain('run-claude 0.');
    const other = path.join(scene.root, 'other');
    cpSync(path.join(scene.project, 'bin'), path.join(other, 'bin'), { recursive: true });
    const words = ['exec', '--dry-run', other, '--', 'true'];
    expect(start(scene, `${path.join(other, 'bin')}:${outside}`, words).stdout).not.toContain('planted');
  });

  it('that is only in the project is named, with what to do', async () => {
    await using scene = new Scene();
    scene.write('bin/node', planted, 0o755);
    const { status, stdout, stderr } = start(scene, path.join(scene.project, 'bin'));
    expect([status, stdout]).toEqual([127, '']);
    expect(stderr).toBe(
      `[sandbox] ERROR: ${scene.project}/bin/node is not used, because an agent can write there. Install node outside of the project.\n`,
    );
  });
});

it('starts no agent from a package in the project, and still audits there', async () => {
  await using scene = new Scene();
  const own = path.join(scene.project, 'node_modules/run-claude');
  for (const part of ['dist', 'package.json', 'Dockerfile', 'images', 'seccomp'])
    cpSync(path.join(packageRoot, part), path.join(own, part), { recursive: true });
  const run = (...words: readonly string[]) =>
    spawnSync('/bin/sh', [path.join(own, 'dist/main.js'), ...words], {
      cwd: scene.project,
      env: scene.env,
      encoding: 'utf8',
    });
  const refused = run('exec', '--bind', '.', '--', 'true');
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain(`run-claude is in a folder that the agent can write: ${own}`);
  expect(refused.stderr).toContain('npm install --global');
  expect(run('audit', '--base', 'HEAD~1').status).toBe(0);
  const pull = run('audit', '--pr', 'https://github.com/o/r/pull/7');
  expect([pull.status, pull.stderr]).toEqual([2, expect.stringContaining('PACKAGE_IN_PROJECT')]);
});

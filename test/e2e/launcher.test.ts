import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mainJs, Scene } from '../support/scene.ts';

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

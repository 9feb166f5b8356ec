import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Pty } from '../../../support/pty.ts';
import { packageRoot, Scene } from '../../../support/scene.ts';

it('a session runs to its end, including the question, after run-claude was removed from the disk', async () => {
  await using scene = new Scene();
  const installed = path.join(scene.root, 'installed');
  const dist = path.join(installed, 'dist');
  for (const part of ['dist', 'images', 'seccomp', 'Dockerfile', 'package.json'])
    cpSync(path.join(packageRoot, part), path.join(installed, part), { recursive: true });
  // The last part that is loaded ahead says so.
  const loaded = path.join(scene.root, 'loaded');
  const late = readdirSync(dist).filter((name) => name.startsWith('enquirer-'));
  expect(late).toHaveLength(1);
  const mark = `(await import('node:fs')).writeFileSync(${JSON.stringify(loaded)}, '');\n`;
  appendFileSync(path.join(dist, late[0] as string), mark);
  const words = [process.execPath, path.join(dist, 'main.js'), 'exec', '--yes', scene.project, '--', 'sh'];
  await using pty = new Pty(words, { cwd: scene.project, env: scene.env });
  await pty.see(/\$ /);
  await expect.poll(() => existsSync(loaded)).toBe(true);
  rmSync(installed, { recursive: true });
  pty.send('echo kept > kept.txt; exit\r');
  await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/);
  pty.send('y\r');
  expect(await pty.exited, pty.output).toBe(0);
  expect(readFileSync(path.join(scene.project, 'kept.txt'), 'utf8')).toBe('kept\n');
});

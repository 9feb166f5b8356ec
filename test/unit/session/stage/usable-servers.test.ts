import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { McpProgram } from '../../../../src/core/types/policy.ts';
import { readyProgram } from '../../../../src/session/stage/servers/usable-servers.ts';

const PROGRAM: McpProgram = { name: 'Box', command: ['node', 's.js'], env: {}, secrets: {}, hosts: [] };

it('refuses a directory that the agent could change, or that is not there', async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-ready-program-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [project, server] = [path.join(root, 'project'), path.join(root, 'server')];
  mkdirSync(path.join(project, 'server'), { recursive: true });
  mkdirSync(server);
  symlinkSync(path.join(project, 'server'), path.join(root, 'link'));
  writeFileSync(path.join(root, 'file'), '');
  const ready = (directory: string, roots: readonly string[] = [project], isLocal = true) =>
    readyProgram({ ...PROGRAM, directory }, { roots, isLocal });
  for (const directory of [project, path.join(project, 'server'), root, '/', path.join(root, 'link')])
    await expect(ready(directory), directory).rejects.toThrow('and the project are in each other');
  for (const name of ['file', 'absent', 'file/below'])
    await expect(ready(path.join(root, name))).rejects.toThrow('is not a directory');
  await expect(ready(server, [project], false)).rejects.toThrow("is not on the engine's machine");
  await expect(ready(server, [project, server])).rejects.toThrow(`and ${server} are in each other`);
  expect(await ready(server)).toMatchObject({ directory: server });
});

it('has the values of the secrets, and stops at a command that fails', async () => {
  const secret = (from: readonly string[]) =>
    readyProgram({ ...PROGRAM, secrets: { TOKEN: from } }, { roots: ['/project'], isLocal: true });
  expect((await secret(['echo', 'REAL'])).secrets).toEqual({ TOKEN: 'REAL' });
  await expect(secret(['false'])).rejects.toThrow('[[mcp]] Box: TOKEN: false failed');
  await expect(secret(['true'])).rejects.toThrow('true printed no value');
});

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pathIdentity, truePath } from '../../../../src/core/host/files/true-path.ts';
import { refuseProject } from '../../../../src/session/plan/refuse-project.ts';
import { compileProgram } from '../../../support/compile.ts';
import { runInOwnKernel } from '../../../support/own-kernel.ts';

let dir: string;
beforeAll(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-true-path-')));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('on a case-insensitive file system, a path has one name, and every spelling of a refused directory is refused', async () => {
  const program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/host/true-path-program.ts'));
  const results = path.join(dir, 'results.json');
  const shown = runInOwnKernel(dir, ['loop'], `${process.execPath} ${program} ${results} 2>&1`);
  if (!existsSync(results)) throw new Error(shown);
  const found = JSON.parse(readFileSync(results, 'utf8'));
  expect(found, shown).toEqual({
    home: '/mnt/disk/Users/Me',
    root: '/mnt/disk/Users/Me/Work/Shop',
    refused: [
      expect.stringContaining('is or contains your home directory'),
      expect.stringContaining('is or contains your home directory'),
      expect.stringContaining("is one of run-claude's own directories"),
      'taken',
    ],
  });
});

it('on a case-sensitive file system, every name is kept and links are followed', () => {
  mkdirSync(path.join(dir, 'Name/é'), { recursive: true });
  mkdirSync(path.join(dir, 'name'));
  symlinkSync('Name', path.join(dir, 'NAME'));
  expect(truePath(path.join(dir, 'NAME/é'))).toBe(path.join(dir, 'Name/é'));
  expect(truePath(path.join(dir, 'name'))).toBe(path.join(dir, 'name'));
  expect(() => truePath(path.join(dir, 'nAme'))).toThrow(/ENOENT/);
});

it('refuses the home directory by its inode, whatever path leads to it', () => {
  const home = path.join(dir, 'home');
  mkdirSync(home);
  // As a bind mount would: another path of the same directory.
  symlinkSync(home, path.join(dir, 'alias'));
  const own = path.join(home, '.run-claude');
  const host = { home, stateDir: own, cacheDir: own, dataDir: own, configDir: own };
  expect(() => refuseProject(path.join(dir, 'alias'), host, pathIdentity)).toThrow(/home directory/);
  expect(() => refuseProject(path.join(dir, 'name'), host, pathIdentity)).not.toThrow();
});

import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { stagingFolder } from '../../../../src/session/start/set-up-run.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-prepare-')));
afterAll(() => rmSync(root, { recursive: true }));
const project = path.join(root, 'project');
mkdirSync(project);
writeFileSync(path.join(root, 'file'), '');
symlinkSync(project, path.join(root, 'link'));

it('--tmpdir may name a missing directory, which planning does not create', () => {
  expect(stagingFolder(undefined, project, root)).toBeUndefined();
  expect(stagingFolder('.', project, root)).toBe(root);
  expect(stagingFolder('a/b', project, root)).toBe(path.join(root, 'a/b'));
  expect(readdirSync(root).sort()).toEqual(['file', 'link', 'project']);
});

it('--tmpdir is refused in a file, and in the project, through a link too', () => {
  expect(() => stagingFolder('file/x', project, root)).toThrow(/file is not a directory/);
  expect(() => stagingFolder('project/new', project, root)).toThrow(/is inside the project/);
  expect(() => stagingFolder('link/new', project, root)).toThrow(/is inside the project/);
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pathFoldersIn } from '../../../../../src/core/host/programs/start-program.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-path-folders-')));
afterAll(() => rmSync(root, { recursive: true }));
const project = path.join(root, 'project');
mkdirSync(path.join(project, 'tools'), { recursive: true });
symlinkSync(path.join(project, 'tools'), path.join(root, 'linked'));

it('names folders of PATH in the project, also relative ones, links to them, and those that do not exist yet', () => {
  const PATH = [
    '/usr/bin',
    root,
    `${project}-2/bin`,
    path.join(project, '.venv/bin'),
    path.join(root, 'linked'),
    './node_modules/.bin',
    '',
  ].join(':');
  expect(pathFoldersIn(project, PATH)).toEqual(['.venv/bin', 'tools', 'node_modules/.bin', '']);
  expect(pathFoldersIn(project, '/usr/bin:/bin')).toEqual([]);
});

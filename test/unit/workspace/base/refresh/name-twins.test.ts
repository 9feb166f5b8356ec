import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findNameTwins } from '../../../../../src/workspace/base/refresh/name-twins.ts';
import { compileProgram } from '../../../../support/compile.ts';
import { runInOwnKernel } from '../../../../support/own-kernel.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-twins-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('two names that are one on the disk of the private copy are refused by name; a rename of letter case is not', async () => {
  const program = await compileProgram(
    path.resolve(import.meta.dirname, '../../../../support/base/name-twins-program.ts'),
  );
  const results = path.join(dir, 'results.json');
  const shown = runInOwnKernel(dir, ['loop'], `${process.execPath} ${program} ${results} 2>&1`);
  if (!existsSync(results)) throw new Error(shown);
  const refusal = (names: string) => ({
    code: 'BASE_NAMES_COLLIDE',
    message: expect.stringMatching(new RegExp(`^${names} are one name on the disk of the private copy \\(/mnt/scene/`)),
    hint: expect.stringContaining('case-sensitive disk'),
  });
  expect(JSON.parse(readFileSync(results, 'utf8'))).toEqual({
    single: { Twin: 'one\n' },
    renamed: { twin: 'one\n' },
    files: refusal('in/(TWIN and in/twin|twin and in/TWIN)'),
    folders: refusal('(IN and in|in and IN)'),
  });
});

it('of a project without any there are none', () => {
  expect(findNameTwins(new Map())).toBeUndefined();
});

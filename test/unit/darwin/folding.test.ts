import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { compileProgram } from '../../support/compile.ts';

const DARWIN = 'data:text/javascript,Object.defineProperty(process,"platform",{value:"darwin"})';
const SUPPORT = path.resolve(import.meta.dirname, '../../support/darwin');

it('on a disk that folds letter case and Unicode forms, two names that are one there are never both written', async () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'rc-darwin-folding-')));
  const [folding, plain, result] = ['folding', 'plain', 'result'].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [folding, plain]) mkdirSync(one);
  try {
    const fold = await compileProgram(path.join(SUPPORT, 'fold-names-program.ts'));
    const program = await compileProgram(path.join(SUPPORT, 'folding-program.ts'));
    const node = ['--import', DARWIN, '--import', fold, program, folding, plain, result];
    execFileSync(process.execPath, node, {
      env: { PATH: process.env['PATH'], HOME: root, UV_USE_IO_URING: '0', FOLD_ROOT: folding },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const undone = ['keep'];
    expect(JSON.parse(readFileSync(result, 'utf8'))).toEqual({
      isFolding: true,
      twoNewFiles: {
        said: { New: 'applied', new: 'conflict: this disk takes it and New for one name' },
        applied: ['New', 'keep'],
        undone,
      },
      twoNewFolders: {
        said: {
          Made: 'applied',
          'Made/x': 'applied',
          made: 'conflict: this disk takes it and Made for one name',
          'made/y': expect.stringMatching(/^conflict: /),
        },
        applied: ['Made', 'Made/x', 'keep'],
        undone,
      },
      twoForms: {
        said: { 'cafe\u0301': 'applied', 'caf\u00e9': 'conflict: this disk takes it and cafe\u0301 for one name' },
        applied: ['cafe\u0301', 'keep'],
        undone,
      },
      besideOld: {
        said: { KEEP: 'conflict: this disk takes KEEP for another name that is there' },
        applied: ['keep'],
        undone,
      },
      renamed: { said: { Keep: 'applied', keep: 'applied' }, applied: ['Keep'], undone },
      copied: 'BASE_NAMES_COLLIDE',
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

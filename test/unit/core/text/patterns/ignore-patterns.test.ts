import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IgnorePatterns, linesOfIgnoreFile } from '../../../../../src/core/text/patterns/ignore-patterns.ts';
import { expectLinear } from '../../../../support/expect-linear.ts';
import { repeatHint, seed } from '../../../../support/seed.ts';

let root: string;
let paths: readonly string[];
const NAMES = ['a', 'ab', 'b', '.a', 'a.b', 'B', 'a b', '[a]', 'a*'];

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'ignore-patterns-'));
  execFileSync('git', ['init', '-q', root]);
  const folders = ['', ...NAMES.slice(0, 6)].flatMap((one) => (one === '' ? [''] : [one, `${one}/a`, `${one}/ab/b`]));
  const made: string[] = [];
  for (const folder of folders) {
    mkdirSync(path.join(root, folder), { recursive: true });
    for (const name of NAMES) {
      const file = path.posix.join(folder, name === 'a' || name === 'ab' ? `${name}x` : name);
      if (folder === '' && folders.includes(file)) continue;
      try {
        writeFileSync(path.join(root, file), '', { flag: 'wx' });
        made.push(file);
      } catch {
        // A folder of that name.
      }
    }
    if (folder !== '') made.push(folder);
  }
  paths = [...new Set(made)];
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What git ignores of the tree. */
function ignoredByGit(text: string, ignoreCase: boolean): ReadonlySet<string> {
  writeFileSync(path.join(root, '.git/info/exclude'), text);
  const words = ['-c', `core.ignorecase=${ignoreCase}`, 'check-ignore', '-z', '--stdin', '--no-index'];
  try {
    const out = execFileSync('git', ['-C', root, ...words], { input: paths.join('\0'), encoding: 'utf8' });
    return new Set(out.split('\0').filter(Boolean));
  } catch (error) {
    // Status 1: no path is ignored.
    if ((error as { status?: number }).status === 1) return new Set();
    throw error;
  }
}

function ignoredByRules(text: string, ignoreCase: boolean): ReadonlySet<string> {
  const rules = new IgnorePatterns({ lines: linesOfIgnoreFile(text), ignoreCase });
  const folders = new Set(paths.flatMap((one) => (one.includes('/') ? [path.posix.dirname(one)] : [])));
  const isFolder = (one: string): boolean =>
    [...folders].some((folder) => folder === one || folder.startsWith(`${one}/`));
  return new Set(paths.filter((one) => rules.ignores(one, isFolder(one))));
}

/** Numbers below `below`, the same ones for a seed. */
function numbersFrom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PIECES = ['a', 'b', 'a', 'b', '*', '*', '**', '?', '/', '/', '/**/', '**/', '/**', '.', 'B', ' ', '\\', '!', '#'];
const CLASSES = [
  '[ab]',
  '[!a]',
  '[^b]',
  '[a-b]',
  '[b-a]',
  '[]a]',
  '[[:alpha:]]',
  '[[:x:]]',
  '[',
  '[a',
  '[\\]a]',
  '[B]x',
];

describe('IgnorePatterns', () => {
  it('decides as git does, for thousands of random patterns', { timeout: 120_000 }, () => {
    const below = numbersFrom(seed);
    const piece = (): string =>
      (below(6) === 0 ? CLASSES[below(CLASSES.length)] : PIECES[below(PIECES.length)]) as string;
    const line = (): string => Array.from({ length: 1 + below(5) }, piece).join('');
    for (let round = 0; round < 300; round++) {
      const lines = Array.from({ length: 1 + below(3) }, line);
      const text = `${lines.join(below(8) === 0 ? '\r\n' : '\n')}\n`;
      expect([...ignoredByRules(text, false)].sort(), `${JSON.stringify(text)}, ${repeatHint}`).toEqual(
        [...ignoredByGit(text, false)].sort(),
      );
    }
  });

  it.each([
    ['many stars', '*a'.repeat(40), 'a'],
    ['many folders', '**/a/'.repeat(40), 'a/'],
    ['many single characters after a star', `*a${'?'.repeat(40)}b`, 'a'],
    ['stars and folders', '**/*a*a/'.repeat(20), 'aaa/'],
  ])('takes as many steps as a path has characters, with %s', async (_, pattern, piece) => {
    await expectLinear(
      (n) => `${piece.repeat(n)}c`,
      (path) => {
        const rules = new IgnorePatterns({ lines: [`/${pattern}b`], ignoreCase: false });
        expect(rules.verdict(path, false)).toBeUndefined();
      },
      { n: 128 },
    );
  });

  it('decides each folder of a path once, however many files are in it', async () => {
    const folder = Array.from({ length: 100 }, (_, index) => `f${index}`).join('/');
    await expectLinear(
      (n) => Array.from({ length: n }, (_, file) => `${folder}/${file}.c`),
      (paths) => {
        const rules = new IgnorePatterns({ lines: ['*.o', '/x/**/y'], ignoreCase: false });
        expect(paths.filter((one) => rules.ignores(one, false))).toEqual([]);
      },
    );
  });

  it('reads the lines of a file as git does: without a byte order mark, and without the CR of an end of line', () => {
    expect(linesOfIgnoreFile('\uFEFFa\r\nb\nc\r')).toEqual(['a', 'b', 'c\r']);
    expect(new IgnorePatterns({ lines: ['x'.repeat(20_000), 'b'], ignoreCase: false }).ignores('b', false)).toBe(true);
  });

  it('compares without letter case where that is asked for, class members and literal names too', () => {
    const rules = new IgnorePatterns({ lines: ['Name', '/Dir/*.KEY', '[A-C]x'], ignoreCase: true });
    const paths = ['nAME', 'sub/NAME', 'dir/a.key', 'DIR/B.Key', 'bX', 'dx'];
    expect(paths.filter((one) => !rules.ignores(one, false))).toEqual(['dx']);
  });
});

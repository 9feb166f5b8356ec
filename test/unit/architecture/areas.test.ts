import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  areaOf,
  folderArrows,
  folderOf,
  readAreas,
  readPlan,
  unusedRows,
  upwardRows,
  wrongImports,
} from '../../../scripts/areas.mjs';
import { drawAreas, placeDrawing } from '../../../scripts/draw-areas.mjs';
import { arrowsOf, findCycle, readImports, readSources } from '../../../scripts/imports.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/internals/architecture.md'), 'utf8');
const areas = readPlan(root);
const sources = readSources(root);
const inSource = areas.filter(({ folders }) => folders.length > 0);

/** An area has a narrow front. These two began with more: the numbers only become smaller. */
const MAX_ENTRY_FILES = 25;
const MAX_ENTRY_FILES_OF: Readonly<Record<string, number>> = { session: 65, review: 55 };

const textIn = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** A file of fewer lines, without comments and imports, is a part of the file that imports it. */
const MIN_LINES = 12;

/**
 * Files of less than that which one file alone imports. Two kinds stay: what is loaded later, by `import()`, and the questions
 * of a folder, which can be read together.
 */
function smallFiles(all: typeof sources, textOf: (file: string) => string): string[] {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of arrowsOf(all)) importers.set(to, (importers.get(to) ?? new Set()).add(from));
  return [...importers].flatMap(([file, [only = '', ...others]]) => {
    if (!file.startsWith('src/') || others.length > 0 || path.basename(file) === 'questions.ts') return [];
    const isLoadedLater = textOf(only).includes(`import('${relative(path.posix.dirname(only), file)}')`);
    return isLoadedLater || linesOfCode(textOf(file)) >= MIN_LINES ? [] : [`${file}: only ${only}`];
  });
}

function linesOfCode(text: string): number {
  const code = text.replace(/\/\*.*?\*\/|^\s*\/\/.*?$|^import .*?;$/gms, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

/** The repository's imports with one more in one file. */
function planted(file: string, specifier: string, isType = false): typeof sources {
  return new Map([...sources, [file, [...(sources.get(file) ?? []), { specifier, isType }]]]);
}

/** A path from a folder to a file, both from the root. */
function relative(dir: string, file: string): string {
  const found = path.posix.relative(dir, file);
  return found.startsWith('.') ? found : `./${found}`;
}

describe('imports of the repository', () => {
  test('the tables and lists allow every import', () => {
    expect(sources.size).toBeGreaterThan(900);
    expect(wrongImports(sources, areas)).toEqual([]);
  });

  test('the tables and lists have nothing that no import uses', () => {
    expect(unusedRows(sources, areas)).toEqual([]);
  });

  test('an area imports areas below it', () => {
    expect(inSource).toHaveLength(12);
    expect(upwardRows(areas)).toEqual([]);
  });

  test.each(inSource.map((area) => [area.name, area] as const))('the folders of %s have no cycle', (_, area) => {
    expect(findCycle(folderArrows(area))).toBeUndefined();
  });

  test.each(inSource.map((area) => [area.name, area] as const))('the front of %s is narrow', (name, { entryFiles }) => {
    expect((entryFiles ?? []).length).toBeLessThanOrEqual(MAX_ENTRY_FILES_OF[name] ?? MAX_ENTRY_FILES);
  });

  test('files have no cycle, imports of types included', () => {
    expect(findCycle(arrowsOf(sources))).toBeUndefined();
  });

  test('no file of a few lines serves one other file alone', () => {
    expect(smallFiles(sources, textIn)).toEqual([]);
  });

  test('every relative import leads to a file that is read, or to one next to the folders', () => {
    const known = new Set(sources.keys());
    const lost = arrowsOf(sources).filter(({ to }) => !known.has(to) && to.includes('/'));
    expect(lost).toEqual([]);
  });

  test('every folder of a table has files', () => {
    const used = new Set(
      [...sources.keys()].map((file) => {
        const area = areas.find(({ name }) => name === areaOf(file));
        return area === undefined ? '' : `${area.name} ${folderOf(file, area)?.name}`;
      }),
    );
    const rows = inSource.flatMap(({ name, folders }) => folders.map((folder) => `${name} ${folder.name}`));
    expect(rows.filter((row) => !used.has(row))).toEqual([]);
  });

  test('the drawing in docs/internals/architecture.md is current (npm run generate)', () => {
    expect(page).toBe(placeDrawing(page, 'areas', drawAreas(sources, areas)));
  });
});

describe('a planted import is refused', () => {
  const [cli, ...lower] = inSource;
  const anyFile = (name: string): string => [...sources.keys()].find((file) => areaOf(file) === name) ?? '';

  test.each(lower.map(({ name }) => name))('upward, from %s, of every kind', (name) => {
    const file = `src/${name}/new.ts`;
    const target = anyFile(cli?.name ?? '');
    const specifier = relative(path.posix.dirname(file), target);
    const withTop = areas.map((area) =>
      area.name === name ? { ...area, folders: [{ name: '.', isPure: false, mayImport: [] }, ...area.folders] } : area,
    );
    for (const text of [
      `import { a } from '${specifier}';`,
      `import type { A } from '${specifier}';`,
      `import '${specifier}';`,
      `export { a } from '${specifier}';`,
      `export * from '${specifier}';`,
      `export type { A } from '${specifier}';`,
      `export const load = () => import('${specifier}');`,
      `export type A = import('${specifier}').A;`,
      `export const load = (a: typeof import('${specifier}')) => a;`,
    ]) {
      const wrong = wrongImports(new Map([[file, readImports(file, text)]]), withTop);
      expect(wrong, text).toEqual([expect.stringContaining(`${name} may not import cli: ${target}`)]);
    }
  });

  test.each(lower.filter(({ name }) => name !== 'core').map(({ name }) => name))(
    'into %s, of a file that is not an entry file',
    (name) => {
      const entryFiles = areas.find((area) => area.name === name)?.entryFiles ?? [];
      const target = [...sources.keys()].find((file) => areaOf(file) === name && !entryFiles.includes(file)) ?? '';
      // One area is for the session alone.
      const from = name === 'rehearsal' ? 'src/session/run.ts' : 'src/cli/main.ts';
      const wrong = wrongImports(
        planted(from, relative(path.posix.dirname(from), target), name === 'rehearsal'),
        areas,
      );
      expect(wrong).toEqual([`${from}: not an entry file of ${name}: ${target}`]);
    },
  );

  test('inside an area, against its table', () => {
    const wrong = wrongImports(planted('src/review/choices/policy.ts', '../apply/undo.ts', true), areas);
    expect(wrong).toEqual([
      'src/review/choices/policy.ts: review/choices may not import apply: src/review/apply/undo.ts',
    ]);
  });

  test.each([
    ['src/core/errors.ts', './types/path.ts'],
    ['src/core/text/path.ts', '../errors.ts'],
    ['src/cli/main.ts', '../../bench/scene.mjs'],
    ['src/cli/main.ts', '../../scripts/imports.mjs'],
    ['src/network/gateway/drive.ts', '../../../images/gateway/names.mjs'],
    ['src/cli/main.ts', '../../test/scene.ts'],
    ['images/gateway/main.mjs', '../../src/core/types/path.ts'],
    ['images/gateway/main.mjs', '../../src/cli/main.ts'],
    ['scripts/generate.mjs', '../src/main.ts'],
    ['bench/run.mjs', '../src/cli/main.ts'],
    ['src/nowhere/new.ts', '../core/errors.ts'],
    ['src/audit/audit.ts', 'node:fs'],
    ['src/audit/rules/all.ts', 'node:fs/promises'],
    ['src/session/run.ts', 'dockerode'],
  ])('%s: %s', (file, specifier) => {
    expect(wrongImports(planted(file, specifier), areas)).toHaveLength(1);
  });

  test('a benchmark that loads an area which its row lacks', () => {
    const imports = readImports('bench/new.mjs', "const [{ a }] = await loadSource('cli/main.ts');");
    expect(wrongImports(new Map([['bench/new.mjs', imports]]), areas)).toEqual([
      'bench/new.mjs: bench may not import cli: src/cli/main.ts',
    ]);
  });

  test.each([
    [
      'src/core/git/small.ts',
      "import { small } from './small.ts';",
      ['src/core/git/small.ts: only src/core/git/new.ts'],
    ],
    ['src/core/git/small.ts', "export const load = () => import('./small.ts');", []],
    ['src/core/git/questions.ts', "import { small } from './questions.ts';", []],
  ])('a small file %s, behind %s', (file, text, found) => {
    const importer = 'src/core/git/new.ts';
    const both = new Map([...sources, [file, []], [importer, readImports(importer, text)]]);
    const small = "import a from 'a';\n\n/**\n * Why.\n */\nexport const small = 1;\n";
    const planted = new Map([
      [file, small],
      [importer, text],
    ]);
    expect(smallFiles(both, (one) => planted.get(one) ?? textIn(one))).toEqual(found);
  });

  test('a cycle between files', () => {
    const cycleWith = (file: string, specifier: string, isType: boolean) =>
      findCycle(arrowsOf(planted(file, specifier, isType)));
    expect(cycleWith('src/core/git/names.ts', './keys.ts', false)).toBeUndefined();
    expect(cycleWith('src/core/git/key-table.ts', './keys.ts', false)).toContain('src/core/git/keys.ts');
    expect(cycleWith('src/core/git/key-table.ts', './keys.ts', true)).toContain('src/core/git/keys.ts');
  });

  test('an import() that names no constant is an error', () => {
    expect(() => readImports('src/a.ts', 'export const load = (name: string) => import(name);')).toThrow('constant');
  });
});

describe('the tables', () => {
  const table = (heading: string, ...rows: string[]) =>
    `## ${heading}\n\n| name | job | may import |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
  const read = (areaRows: readonly string[], folderRows: readonly string[], entries = '') =>
    readAreas(table('Areas', ...areaRows), () => `${table('Folders', ...folderRows)}\n## Entry files\n\n${entries}\n`);

  test('a folder belongs to its own row, else to the row above it', () => {
    const [area] = read(['| `a` | x |  |'], ['| `.` | x |  |', '| `b` | x | `.` |', '| `b/c` | x | |']);
    if (area === undefined) throw new Error('no area was read');
    expect(folderOf('src/a/b/c/d/e.ts', area)?.name).toBe('b/c');
    expect(folderOf('src/a/b/d/e.ts', area)?.name).toBe('b');
    expect(folderOf('src/a/d/e.ts', area)?.name).toBe('.');
  });

  test('a row that allows an area above it, or an entry file that nobody imports, is found', () => {
    const found = read(['| `a` | x | |', '| `b` | x | `a` |'], ['| `.` | x | |'], '- `c/`: `d.ts`');
    expect(upwardRows(found)).toEqual(['b: a is above it']);
    expect(unusedRows(new Map(), found)).toContain('src/b/c/d.ts: no other area imports it');
  });

  test('a row that names an unknown area or folder is an error', () => {
    expect(() => read(['| `a` | x | `b` |'], [])).toThrow('has no row');
    expect(() => read(['| `a` | x | |'], ['| `.` | x | `c` |'])).toThrow('has no row');
  });
});

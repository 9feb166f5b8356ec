import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { drawRooms, placeDrawing } from '../../../scripts/draw-rooms.mjs';
import {
  allowedArrows,
  arrowsOf,
  findCycle,
  readImports,
  readRooms,
  readSources,
  roomArrows,
  roomOf,
  unusedArrows,
  wrongImports,
} from '../../../scripts/rooms.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const rooms = readRooms(page);
const sources = readSources(root);

/** The repository's imports with one more in one file. */
function planted(file: string, specifier: string, isType = false): typeof sources {
  return new Map([...sources, [file, [...(sources.get(file) ?? []), { specifier, isType }]]]);
}

describe('imports of the repository', () => {
  test('the table allows every import', () => {
    expect(sources.size).toBeGreaterThan(300);
    expect(wrongImports(sources, rooms)).toEqual([]);
  });

  test('the table allows no arrow that no import uses', () => {
    expect(unusedArrows(sources, rooms)).toEqual([]);
  });

  test('neither the table nor the imports have a cycle between rooms', () => {
    expect(findCycle(allowedArrows(rooms))).toBeUndefined();
    expect(findCycle(roomArrows(sources, rooms))).toBeUndefined();
  });

  // Two types may describe each other; nothing is loaded for a type, so no file ever sees a half-loaded one.
  test('files have no cycle, type-only imports excepted', () => {
    expect(findCycle(arrowsOf(sources).filter(({ isType }) => !isType))).toBeUndefined();
  });

  test('every relative import leads to a file that is read, or to one beside the folders', () => {
    const known = new Set(sources.keys());
    const lost = arrowsOf(sources).filter(({ to }) => !known.has(to) && to.includes('/'));
    expect(lost).toEqual([]);
  });

  test('every room of the table has files', () => {
    const used = new Set([...sources.keys()].map((file) => roomOf(file, rooms)));
    expect(rooms.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });

  test('the drawing in docs/architecture.md is current (npm run generate)', () => {
    expect(page).toBe(placeDrawing(page, drawRooms(sources, rooms)));
  });
});

describe('a planted import is refused', () => {
  const folders = [...new Set([...sources.keys()].map((file) => path.posix.dirname(file)))];
  const inside = folders.filter((dir) => dir.startsWith('src/'));
  /** A path from a folder to a file, both from the root. */
  const relative = (dir: string, file: string) => {
    const found = path.posix.relative(dir, file);
    return found.startsWith('.') ? found : `./${found}`;
  };

  /** A file that the room of a folder may not import. */
  const refusedFile = (dir: string): string => {
    const room = rooms.find(({ name }) => name === roomOf(`${dir}/new.ts`, rooms));
    const isRefused = (file: string) => {
      const other = roomOf(file, rooms) ?? '';
      return file.startsWith('src/') && other !== room?.name && !room?.mayImport(other);
    };
    return [...sources.keys()].find(isRefused) ?? 'bench/scene.mjs';
  };

  test.each(inside)('from %s, of every kind', (dir) => {
    const file = `${dir}/new.ts`;
    const target = refusedFile(dir);
    const specifier = relative(dir, target);
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
      const wrong = wrongImports(new Map([[file, readImports(file, text)]]), rooms);
      expect(wrong, text).toEqual([expect.stringContaining(target)]);
    }
  });

  test.each(inside)('into %s, from a room that imports nothing', (dir) => {
    const target = [...sources.keys()].find((file) => path.posix.dirname(file) === dir) ?? '';
    const wrong = wrongImports(planted('src/core/errors.ts', relative('src/core', target), true), rooms);
    expect(wrong).toEqual([expect.stringContaining(target)]);
  });

  test.each([
    ['src/core/errors.ts', './types/path.ts'],
    ['src/core/text/path.ts', '../errors.ts'],
    ['src/cli/main.ts', '../../bench/scene.mjs'],
    ['src/cli/main.ts', '../../scripts/rooms.mjs'],
    ['src/network/gateway/drive.ts', '../../images/gateway/names.mjs'],
    ['src/cli/main.ts', '../../test/scene.ts'],
    ['images/gateway/main.mjs', '../../src/types/path.ts'],
    ['images/gateway/main.mjs', '../../src/errors.ts'],
    ['scripts/generate.mjs', '../src/main.ts'],
    ['bench/run.mjs', '../src/cli/main.ts'],
    ['src/nowhere/new.ts', '../errors.ts'],
    ['src/audit/audit.ts', 'node:fs'],
    ['src/audit/rules/all.ts', 'node:fs/promises'],
    ['src/session/run.ts', 'dockerode'],
  ])('%s: %s', (file, specifier) => {
    expect(wrongImports(planted(file, specifier), rooms)).toHaveLength(1);
  });

  test('a benchmark that loads a room which its row lacks', () => {
    const imports = readImports('bench/new.mjs', "const [{ a }] = await loadSource('cli/main.ts');");
    expect(wrongImports(new Map([['bench/new.mjs', imports]]), rooms)).toEqual([
      'bench/new.mjs: bench may not import cli: src/cli/main.ts',
    ]);
  });

  test('a cycle between files', () => {
    const arrows = arrowsOf(planted('src/core/git/names.ts', './keys.ts')).filter(({ isType }) => !isType);
    expect(findCycle(arrows)).toBeUndefined();
    const round = planted('src/core/git/key-table.ts', './keys.ts');
    expect(findCycle(arrowsOf(round).filter(({ isType }) => !isType))).toContain('src/core/git/keys.ts');
  });
});

describe('the table', () => {
  const table = (...rows: string[]) =>
    `## Rooms\n\n| room | job | may import |\n| --- | --- | --- |\n${rows.join('\n')}\n`;

  test('a nested folder belongs to its own row, else to the row above it', () => {
    const read = readRooms(table('| `a` | x |  |', '| `a/b` | x | `a` |'));
    expect(roomOf('src/a/b/c/d.ts', read)).toBe('a/b');
    expect(roomOf('src/a/c/d.ts', read)).toBe('a');
    expect(roomOf('src/c/d.ts', read)).toBeUndefined();
    const up = readImports('src/a/c/d.ts', "import '../b/e.ts';");
    expect(wrongImports(new Map([['src/a/c/d.ts', up]]), read)).toEqual([
      'src/a/c/d.ts: a may not import a/b: src/a/b/e.ts',
    ]);
  });

  test('a cycle of rooms is found, also through nested rooms', () => {
    const read = readRooms(table('| `a` | x | `c` |', '| `a/b` | x | `a` |', '| `c` | x | `a/b` |'));
    expect(findCycle(allowedArrows(read))).toEqual(['a', 'c', 'a/b', 'a']);
  });

  test('a row that names an unknown room, or says anything else, is an error', () => {
    expect(() => readRooms(table('| `a` | x | `b` |'))).toThrow('has no row');
    expect(() => readRooms(table('| `a` | x | most |'))).toThrow('is not a list of rooms');
  });

  test('an import() that names no constant is an error', () => {
    expect(() => readImports('src/a.ts', 'export const load = (name: string) => import(name);')).toThrow('constant');
  });
});

import { describe, expect, it } from 'vitest';
import { readStructure, unreadReason } from '../../../src/audit/formats/structured.ts';
import { auditFiles } from './plant.ts';

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

/** Files that take a parser minutes, or the whole stack. */
const HOSTILE: Readonly<Record<string, readonly [file: string, text: () => string]>> = {
  'a list in a list, 2,000 times': ['compose.yml', () => '- '.repeat(2000)],
  'flow lists, 50,000 deep': ['compose.yml', () => `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  'mappings, indented 2,000 deep': ['compose.yml', () => lines(2000, (n) => `${' '.repeat(n)}a:`)],
  'keys of a mapping, 2,000 deep': ['compose.yml', () => '? '.repeat(2000)],
  '190,000 plain keys': ['compose.yml', () => lines(190_000, (n) => `key${n}: ${n}`)],
  'a flow mapping of 150,000': ['compose.yml', () => `{${lines(150_000, (n) => `k${n}: ${n},`)}}`],
  '100,000 documents': ['compose.yml', () => '---\na: 1\n'.repeat(100_000)],
  '20,000 anchors, each in the next': [
    'compose.yml',
    () => `k: &x0 [1]\n${lines(20_000, (n) => `k${n}: &x${n + 1} [*x${n}]`)}`,
  ],
  'aliases that grow': [
    'compose.yml',
    () => `a0: &a0 [1,1]\n${lines(60, (n) => `a${n + 1}: &a${n + 1} [*a${n},*a${n}]`)}`,
  ],
  'JSON of 190,000 keys': ['package.json', () => `{${lines(190_000, (n) => `"k${n}": 1,`)}"z": 1}`],
  'JSON, 100,000 deep': ['package.json', () => `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  'JSON5, 100,000 deep': ['.prettierrc.json5', () => `${'{a:'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  'JSON behind brackets in strings and comments': [
    'tsconfig.json',
    () => `{"a": "]]]]", /* ]]]] */ "b": ${'['.repeat(5000)}${']'.repeat(5000)}}`,
  ],
  '150,000 dotted keys': ['pyproject.toml', () => lines(150_000, (n) => `a.b${n} = 1`)],
  '100,000 tables': ['pyproject.toml', () => lines(100_000, (n) => `[a.b${n}]`)],
  'a key of 50,000 parts': ['pyproject.toml', () => `${'a.'.repeat(50_000)}a = 1`],
  'inline tables, 50,000 deep': ['pyproject.toml', () => `a = ${'{a='.repeat(50_000)}1${'}'.repeat(50_000)}`],
  'lists of TOML, 50,000 deep': ['pyproject.toml', () => `a = ${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  'brackets of CMake without an end': ['CMakeLists.txt', () => 'a([[ '.repeat(200_000)],
  '190,000 commands of CMake': ['CMakeLists.txt', () => lines(190_000, (n) => `set(CMAKE_C_COMPILER ${n})`)],
  'calls in calls of Starlark': ['BUILD', () => `${'a('.repeat(50_000)}${')'.repeat(50_000)}`],
  'lists in lists of Starlark': ['BUILD', () => `a(b = ${'['.repeat(50_000)}${']'.repeat(50_000)})`],
  'texts of Starlark without an end': ['BUILD', () => '""" '.repeat(100_001)],
  '190,000 additions of Starlark': ['BUILD', () => `a(b = ${'x + '.repeat(190_000)}x)`],
  'go.mod of 190,000 lines': ['go.mod', () => lines(190_000, (n) => `require a.b/c${n} v1.0.0`)],
  'DESCRIPTION of 190,000 fields': ['DESCRIPTION', () => lines(190_000, (n) => `A${n}: b`)],
  'a field of 190,000 lines': ['DESCRIPTION', () => `Remotes: a\n${lines(190_000, (n) => ` b${n}`)}`],
  'pins of 40,000 steps': ['action.yml', () => lines(40_000, () => `uses: a/b@${'1'.repeat(40)} # v1`)],
  'INI of 190,000 keys': ['setup.cfg', () => lines(190_000, (n) => `k${n} = ${n}`)],
};

/** So much processor time for one file, with what it was before. */
const MAX_FILE_MS = 2000;

describe('a hostile file is suspect, and its audit takes two seconds at most', () => {
  it.each(Object.keys(HOSTILE))('%s', (name) => {
    const [file, text] = HOSTILE[name] as (typeof HOSTILE)[string];
    const after = text();
    // The tables of the rules are built with the first audit.
    auditFiles({ [file]: '' });
    const start = process.cpuUsage();
    const findings = auditFiles({ [file]: ['', after] });
    const { user, system } = process.cpuUsage(start);
    expect(findings.filter(({ severity }) => severity !== 'note')).not.toEqual([]);
    expect((user + system) / 1000).toBeLessThan(MAX_FILE_MS);
  });
});

it('says that there is too much, where the text would parse', () => {
  const reason = (name: string): string | undefined => {
    const [file, text] = HOSTILE[name] as (typeof HOSTILE)[string];
    return unreadReason(text(), 'auto', file);
  };
  const named = ['a list in a list, 2,000 times', '190,000 plain keys', 'JSON, 100,000 deep', '100,000 tables'];
  expect(named.map(reason)).toEqual(named.map(() => 'too much to judge'));
});

it('reads files as large as those of very large projects', () => {
  const packages = (count: number, one: (n: number) => string): string => lines(count, one);
  const read = (text: string, file: string): number => readStructure(text, 'auto', file)?.leaves.length ?? 0;
  expect(
    read(
      packages(5000, (n) => `  pkg${n}@1.${n}.0:\n    resolution: {integrity: sha512-${n}}`),
      'a.yaml',
    ),
  ).toBe(5000);
  expect(
    read(
      packages(8000, (n) => `[[package]]\nname = "p${n}"\nversion = "1.2.${n}"`),
      'a.toml',
    ),
  ).toBe(16_000);
  expect(read(`{${packages(30_000, (n) => `"p${n}": "^1.2.${n}",`)}"z": "1"}`, 'a.json')).toBe(30_001);
  const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`;
  expect([read(deep, 'a.json'), read(deep, 'a.yaml')]).toEqual([1, 1]);
});

it('reads each text once for all rules, and judges by its content', () => {
  const text = lines(2000, (n) => `k${n}: ${n}`);
  const first = readStructure(text, 'yaml', 'a.yml');
  expect(readStructure(text, 'auto', 'b.yml')).toBe(first);
  expect(readStructure(text, 'ini', 'a.yml')).not.toBe(first);
  expect(readStructure(`${text}\nz: 1`, 'yaml', 'a.yml')?.leaves).toHaveLength(2001);
});

import { expect, it } from 'vitest';
import { firstRows } from '../../support/rows.ts';
import { auditFiles } from './plant.ts';
import type { Planted } from './rows.ts';

const times = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join('');

/** Texts that a parser or an expression may not survive, by the format that they belong to. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  json: {
    'lists in lists': () => '['.repeat(50_000) + ']'.repeat(50_000),
    'objects in objects': () => `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
    'unclosed lists': () => '['.repeat(100_000),
    'many keys': () => `{${times(190_000, (n) => `"k${n}":1,`)}"z":1}`,
    'one long string': () => `{"a":"${'x'.repeat(3_000_000)}"}`,
    'one long key': () => `{"${'x'.repeat(1_000_000)}":1}`,
    'one key many times': () => `{${'"a":1,'.repeat(50_000)}"a":1}`,
    'half of a text': () => '{"a": {"b": [1, 2',
  },
  yaml: {
    'sequences in sequences on one line': () => '- '.repeat(2000),
    'mappings in mappings': () => times(1500, (n) => `${' '.repeat(n)}a:\n`),
    'flow in flow': () => '['.repeat(50_000),
    'many keys': () => times(190_000, (n) => `k${n}: 1\n`),
    'many documents': () => '---\na: 1\n'.repeat(100_000),
    'aliases of aliases': () =>
      `a: &a [x]\n${times(60, (n) => `b${n}: &b${n} [${n === 0 ? '*a, *a' : `*b${n - 1}, *b${n - 1}`}]\n`)}`,
    'an alias of itself': () => 'a: &a [*a]\n',
    'merges of itself': () => 'a: &a\n  <<: *a\n',
    'chained anchors': () => times(20_000, (n) => `x${n}: &x${n} [${n === 0 ? '' : `*x${n - 1}`}]\n`),
    'only tabs': () => '\t'.repeat(100_000),
    'a block that never ends': () => `a: |\n${' x\n'.repeat(300_000)}`,
    'half of a text': () => 'a: [1, {b: "c',
  },
  toml: {
    'tables in tables': () => `[${'a.'.repeat(20_000)}a]\nb = 1\n`,
    'inline tables': () => `a = ${'{a='.repeat(20_000)}`,
    'lists in lists': () => `a = ${'['.repeat(50_000)}`,
    'many dotted keys': () => times(150_000, (n) => `a.k${n} = 1\n`),
    'many tables': () => times(100_000, (n) => `[[a${n}]]\n`),
    'a string that never ends': () => `a = """${'x\n'.repeat(500_000)}`,
  },
  xml: {
    'elements in elements': () => '<a>'.repeat(50_000),
    'many attributes': () => `<a ${times(50_000, (n) => `b${n}="x" `)}/>`,
    'entities of entities': () =>
      `<!DOCTYPE a [${times(20, (n) => `<!ENTITY e${n + 1} "&e${n};&e${n};">`)}]><a>&e20;</a>`,
    'a comment that never ends': () => `<!--${' -'.repeat(500_000)}`,
  },
  lines: {
    'sections in brackets': () => '['.repeat(300_000),
    'many sections': () => times(50_000, (n) => `[s${n}]\nk = v\n`),
    'lines that continue': () => 'a = b \\\n'.repeat(100_000),
    'one long line': () => `a=${'x '.repeat(1_000_000)}`,
    'quotes without an end': () => `"'`.repeat(300_000),
    'dollars and braces': () => '${'.repeat(300_000),
    'blanks and backslashes': () => ' \\'.repeat(300_000),
    'carriage returns': () => 'a: b\r'.repeat(100_000),
    'zero bytes': () => '\0'.repeat(300_000),
    'lone surrogates': () => '\ud800'.repeat(100_000),
    'marks without a base': () => '\u0301'.repeat(200_000),
    'letters that fold to several': () => '\ufb03\u0130'.repeat(100_000),
  },
};

/** Files that are read in each format. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  json: ['package.json', 'package-lock.json', '.vscode/settings.json', 'composer.lock', 'a.ipynb', 'tsconfig.json'],
  yaml: ['compose.yml', '.github/workflows/a.yml', 'pnpm-lock.yaml', 'mkdocs.yml', 'k8s/a.yaml'],
  toml: ['pyproject.toml', 'Cargo.toml', 'Cargo.lock', 'mise.toml'],
  xml: ['pom.xml', 'a.csproj', 'x.plist'],
  lines: [
    '.npmrc',
    'setup.cfg',
    '.env',
    'Makefile',
    '.git/config',
    '.gitattributes',
    'yarn.lock',
    'CLAUDE.md',
    'src/a.js',
    'run.sh',
  ],
};

/** Seconds of processor time that an audit takes. */
function secondsFor(files: Parameters<typeof auditFiles>[0]): number {
  const start = process.cpuUsage();
  auditFiles(files);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
}

/** Seconds of processor time for one file, the parsers' first use included. */
const BUDGET_SECONDS = 2;

for (const [format, shapes] of Object.entries(SHAPES))
  for (const [shape, textOf] of Object.entries(shapes))
    it(`judges in a short time: ${format}, ${shape}`, () => {
      const slow: string[] = [];
      for (const path of FILES[format] ?? []) {
        const text = textOf();
        const planted: Planted[] = [text, ['a\n', text], [text, 'a\n']];
        for (const [at, one] of firstRows(1, planted).entries()) {
          // On a busy machine the same work takes more processor time: the least of three counts.
          let seconds = Number.POSITIVE_INFINITY;
          for (let tries = 0; tries < 3 && seconds > BUDGET_SECONDS; tries += 1)
            seconds = Math.min(seconds, secondsFor({ [path]: one }));
          if (seconds > BUDGET_SECONDS)
            slow.push(`${shape}: ${path} (${['new', 'after', 'before'][at]}): ${seconds.toFixed(1)} s`);
        }
      }
      expect(slow).toEqual([]);
    });

it('judges one long command of CMake in time', () => {
  expect(secondsFor({ 'CMakeLists.txt': `set(${'CMAKE_'.repeat(40_000)})\n` })).toBeLessThan(BUDGET_SECONDS * 3);
});

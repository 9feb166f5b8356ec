import fc from 'fast-check';
import { expect, it } from 'vitest';
import { signalLooks } from '../../../src/audit/content/signal-rules.ts';
import { foldPath } from '../../../src/audit/formats/glob.ts';
import { newLines } from '../../../src/audit/formats/lines.ts';
import { mayHoldSecret, secretIn, secretsByOthers } from '../../../src/audit/formats/secrets.ts';
import { skeleton } from '../../../src/audit/formats/skeleton.ts';
import { readStructure } from '../../../src/audit/formats/structured.ts';
import { runLooks } from '../../../src/audit/general-rules/run-looks.ts';
import { judgeGitConfig } from '../../../src/audit/git-directory/config.ts';
import type { JudgedText } from '../../../src/audit/judges/rule.ts';
import { judgeNpmLock, judgeYarnLock } from '../../../src/audit/locks/lockfiles.ts';
import { FILE_RULES } from '../../../src/audit/rules/all.ts';
import { decodeBytes, encodeBytes } from '../../../src/core/text/path.ts';
import { auditFiles } from './plant.ts';
import type { Files } from './rows.ts';

const RUNS = { numRuns: 60 };
const numbered = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('');
/** Scraps of every format that is read, put together at random: nearly right is worse than random. */
const SCRAPS = [
  ...['constructor', '__proto__', 'toString', 'hasOwnProperty'],
  ...[
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '\n',
    '\r\n',
    '\t',
    '=',
    ':',
    '- ',
    ',',
    '#',
    ';',
    '\u0000',
    '\u2028',
    '\ud800',
  ],
  ...[
    '[core]',
    '[include "x"]',
    'path = a',
    '!',
    '|',
    '>',
    '&a',
    '*a',
    '<<: *a',
    '!!python/object:x',
    '---\n',
    '? ',
    '%TAG',
  ],
  ...[
    '"packages"',
    '"node_modules/a"',
    '"resolved": "',
    'https://',
    'integrity sha512-',
    '__proto__',
    'constructor',
    '{}',
    '[]',
  ],
  ...[
    'on:',
    'jobs:',
    'run: ',
    '${{',
    'а',
    '\u202e',
    '\u200b',
    'ﬁ',
    'ſ',
    '\u{e0041}',
    '1e999',
    'null',
    'PK\u0003\u0004',
    '\u001f\u008b',
  ],
];
const soup = fc
  .array(fc.oneof(fc.constantFrom(...SCRAPS), fc.string({ maxLength: 6 })), { maxLength: 80 })
  .map((all) => all.join(''));

it('never throws on any text, in any parser', () => {
  const judged = (before: string, after: string): JudgedText => ({
    path: 'x',
    before,
    after,
    change: { path: 'x', kind: 'modified' } as never,
    added: () => newLines(before, after),
    deleted: () => newLines(after, before),
  });
  fc.assert(
    fc.property(soup, soup, (before, after) => {
      judgeGitConfig(before, after);
      judgeNpmLock(judged(before, after));
      judgeYarnLock(judged(before, after));
      for (const format of ['json', 'jsonc', 'yaml', 'toml', 'ini', 'auto'] as const) readStructure(after, format, 'x');
      const bytes = Buffer.from(after, 'latin1');
      runLooks('bytes', 'x.png', { path: 'x.png', before: Buffer.from(before), bytes, size: after.length });
      secretIn(after, 'x');
      expect(skeleton(skeleton(after))).toBe(skeleton(after));
      expect(foldPath(foldPath(after))).toBe(foldPath(after));
      const files = [
        '.git/config',
        '.gitmodules',
        '.vscode/settings.json',
        '.github/workflows/a.yml',
        'package-lock.json',
        'package.json',
      ];
      auditFiles(Object.fromEntries(files.map((file) => [file, [before, after] as const])));
    }),
    RUNS,
  );
});

it('keeps every byte of any text, valid or not', () => {
  const bytes = fc.uint8Array({ maxLength: 60 });
  const nearly = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          [0xc3, 0xa9],
          [0xe2, 0x82],
          [0xed, 0xa0, 0x80],
          [0xf0, 0x9f, 0x98, 0x80],
          [0xf4, 0x90, 0x80, 0x80],
          [0xe0, 0x80],
          [0x41],
        ),
      ),
      { maxLength: 20 },
    )
    .map((parts) => Uint8Array.from(parts.flat()));
  fc.assert(
    fc.property(fc.oneof(bytes, nearly), (raw) => {
      expect([...encodeBytes(decodeBytes(raw))]).toEqual([...raw]);
    }),
    { numRuns: 400 },
  );
});

/** Texts on which an expression with nested or overlapping repetitions takes the square or worse of their length. */
function adversaries(regex: RegExp, length: number): string[] {
  const words = [...new Set(regex.source.match(/[A-Za-z]{3,}/g) ?? [])].slice(0, 6);
  const units = [
    ' ',
    'a',
    '"',
    "'",
    '/',
    '\\',
    '.',
    '=',
    '<',
    '-',
    '{',
    '$',
    '#',
    '\t',
    'aA1_',
    '[a]',
    ...words,
    ...words.map((word) => `${word} `),
  ];
  return units.map((unit) => `${unit.repeat(Math.ceil(length / unit.length)).slice(0, length)}\u0001`);
}

it('has only expressions that take linear time on a long line', () => {
  const expressions = new Map<string, RegExp>();
  const put = (regex: RegExp | undefined): void => {
    if (regex !== undefined) expressions.set(String(regex), regex);
  };
  for (const rule of FILE_RULES)
    for (const one of rule.look)
      if (one.kind === 'keys' || one.kind === 'lines')
        for (const key of ['danger', 'harmless', 'removed', 'value'] as const) put(Reflect.get(one, key));
  for (const { danger, harmless } of signalLooks()) for (const regex of [danger, harmless]) put(regex);
  expect(expressions.size).toBeGreaterThan(150);
  // A line is shown to them in windows of 4,000 characters. Some are of the square there, which is 16 million steps at
  // most: processor time of each over all adversaries, against the same for a known expression, tells the bad ones.
  const cost = (regex: RegExp): number => {
    const start = process.cpuUsage();
    for (const text of adversaries(regex, 4000)) regex.test(text);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  const slow = [...expressions.values()]
    .map((regex) => [cost(regex), regex.source] as const)
    .filter(([ms]) => ms > 2000);
  expect(slow).toEqual([]);
});

it('searches a large text for secrets and signals in linear time', () => {
  const small = 'aA1+/'.repeat(20_000);
  const time = (text: string): number => {
    const start = process.cpuUsage();
    mayHoldSecret(text);
    // As they are asked: a line is cut to 8,000 characters.
    secretsByOthers(text.match(/[\s\S]{1,8000}/g) ?? [], 'a.ts');
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  time(small);
  for (const unit of ['a', 'a:', '://a:', 'eyJhbGci', 'password', ' ', '-', 'A', 'gl', '"a"']) {
    const of = (length: number): number => time(unit.repeat(length / unit.length));
    // 8 times the text: a square would be 64 times the time.
    expect(of(800_000), unit).toBeLessThan(Math.max(2000, 30 * of(100_000)));
  }
});

it.each<[string, Files]>([
  ['empty lines in settings without an extension', { '.prettierrc': `${'\n'.repeat(34)}x` }],
  ['returns in settings', { '.czrc': `k: v\n${'\r'.repeat(150_000)}x` }],
  ['empty lines in a lock file', { 'yarn.lock': ['a\n', `${'\n'.repeat(300_000)}x`] }],
  ['empty lines in a package', { 'Cargo.lock': ['a\n', `[[package]]${'\n'.repeat(300_000)}x`] }],
  ['empty lines in a manifest', { 'k8s/a.yaml': ['image: a\n', `${'\n'.repeat(300_000)}x: y`] }],
  ['empty lines in a list of crates', { 'Cargo.toml': ['', `${'\n'.repeat(300_000)}x = 1`] }],
  ['blanks behind an import', { Makefile: `import${' '.repeat(300_000)}x` }],
  ['steps before a path', { Makefile: `sh ${'./'.repeat(300_000)}x` }],
  ['folders and files by the thousand', { Makefile: numbered(20_000, (n) => `cd a${n}\nsh b${n}.sh\n`) }],
  ['folders between folders', { '.gitignore': `**/${'a/**/'.repeat(6)}b\n`, [`${'a/'.repeat(60)}d`]: 'x' }],
  ['digits in a name', { [`${'1'.repeat(34)}\u200b!`]: 'x' }],
])('judges text made to be slow in a short time: %s', (_, files) => {
  const start = process.cpuUsage();
  auditFiles(files);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1_000_000).toBeLessThan(8);
});

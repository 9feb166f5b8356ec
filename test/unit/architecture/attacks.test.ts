import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { drawAttacks, missingTests, readCatalogue, titlesIn, unrunTests } from '../../../scripts/attacks.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const sections = readCatalogue();
const one = { section: 's', intro: 'i' };

describe('docs/attacks.md', () => {
  it('is current (npm run generate)', () => {
    expect(readFileSync(path.join(root, 'docs/attacks.md'), 'utf8')).toBe(drawAttacks(sections));
  });

  it('names tests that exist', () => {
    expect(missingTests(sections)).toEqual([]);
    const removed = { stops: 's', tries: ['t'], test: 'unit/architecture/attacks.test.ts#no such test' };
    expect(missingTests([{ ...one, attacks: [removed] }])).toEqual([
      'test/unit/architecture/attacks.test.ts: no such test',
    ]);
  });

  it('names each attack once', () => {
    const tries = sections.flatMap(({ attacks }) => attacks.flatMap((attack) => attack.tries));
    expect(tries.filter((attack, at) => tries.indexOf(attack) !== at)).toEqual([]);
    expect(tries.length).toBeGreaterThan(150);
  });
});

it('reads titles as written, with their placeholders', () => {
  const text = `it('a', f); test.each([1])('b %s', f); it(\`c \${d}\`, f); describe('e', f); suit('f', f);`;
  expect(titlesIn('x.ts', text)).toEqual(['a', 'b %s', `c \${d}`]);
});

describe('a report of a run', () => {
  const attacks = [{ stops: 's', tries: ['t'], test: 'unit/a.test.ts#holds %s of $count' }];
  const unrun = (name: string, ...results: [title: string, status: string][]) =>
    unrunTests(
      [{ ...one, attacks }],
      [{ name, assertionResults: results.map(([title, status]) => ({ title, status })) }],
    );

  it('that has each test as passed is accepted', () => {
    expect(unrun('/r/test/unit/a.test.ts', ['holds x of 3', 'passed'], ['holds y of 3', 'passed'])).toEqual([]);
  });

  it('that lacks the file reports nothing about it', () => {
    expect(unrun('/r/test/unit/b.test.ts', ['other', 'passed'])).toEqual([]);
  });

  it.each([
    ['did not run', [['other', 'passed']]],
    [
      'failed',
      [
        ['holds x of 3', 'passed'],
        ['holds y of 3', 'failed'],
      ],
    ],
    ['skipped', [['holds x of 3', 'skipped']]],
  ] as [string, [string, string][]][])('that shows a test as one that %s is refused', (outcome, results) => {
    expect(unrun('/r/test/unit/a.test.ts', ...results)).toEqual([
      expect.stringMatching(new RegExp(`^test/unit/a\\.test\\.ts: .*: ${outcome}$`)),
    ]);
  });
});

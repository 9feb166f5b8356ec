import { describe, expect, it } from 'vitest';
import { globMatcher } from '../../../../../src/core/text/patterns/glob.ts';
import { expectLinear } from '../../../../support/expect-linear.ts';

describe('a glob', () => {
  it.each([
    ['*.ts', 'a/b.ts', true],
    ['*.ts', 'b.tsx', false],
    ['src/**', 'src/a/b', true],
    ['src/**/b', 'src/b', true],
    ['src/?.c', 'src/ab.c', false],
    ['a{b,c}d', 'x/acd', true],
    ['{a', 'a', true],
    ['a+(b)', 'a+(b)', true],
    ['a.b', 'axb', false],
  ])('%s and %s: %s', (pattern, name, isMatch) => {
    expect(globMatcher(pattern)(name)).toBe(isMatch);
  });

  it('of nested braces is not written out: its steps grow with its length', async () => {
    await expectLinear(
      (n) => n,
      (n) => {
        const matches = globMatcher('{a,b}'.repeat(n));
        expect(matches('ab'.repeat(n / 2))).toBe(true);
        expect(matches(`${'ab'.repeat(n / 2)}c`)).toBe(false);
      },
      { n: 16 },
    );
  });

  it('of many wildcards takes no long time on a name that nearly matches', () => {
    const matches = globMatcher(`${'**/'.repeat(20)}${'*a'.repeat(40)}{b,c**d}`);
    expect(matches(`${'a/'.repeat(500)}${'a'.repeat(250)}`)).toBe(false);
    expect(matches(`x/${'a'.repeat(40)}b`)).toBe(true);
  });
});

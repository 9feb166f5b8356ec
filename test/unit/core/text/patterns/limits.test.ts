import { describe, expect, it } from 'vitest';
import { beyondLimits } from '../../../../../src/core/text/patterns/limits.ts';

describe('a list of patterns', () => {
  it.each([
    ['ordinary patterns', ['**/*.log', 'build/', '{a,b}/[0-9]?.txt']],
    ['as many patterns as are allowed', new Array(2000).fill('a')],
    ['a pattern as long as is allowed', ['a'.repeat(1000)]],
    ['as many wildcards as are allowed', ['*/'.repeat(30)]],
  ])('is accepted with %s', (_, patterns) => {
    expect(beyondLimits(patterns)).toBeUndefined();
  });

  it.each([
    ['too many patterns', new Array(2001).fill('a'), '2001 patterns, and at most 2000 are allowed'],
    ['a long pattern', ['a'.repeat(1001)], `'${'a'.repeat(40)}…' has 1001 characters, and at most 1000 are allowed`],
    [
      'many wildcards',
      ['**/'.repeat(31)],
      `'${'**/'.repeat(14).slice(0, 40)}…' has 31 wildcards, and at most 30 are allowed`,
    ],
  ])('is refused with %s', (_, patterns, reason) => {
    expect(beyondLimits(patterns)).toBe(reason);
  });

  it('has fewer patterns where fewer are asked for', () => {
    expect(beyondLimits(['a', 'b'], 1)).toBe('2 patterns, and at most 1 are allowed');
  });
});

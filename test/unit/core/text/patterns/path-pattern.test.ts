import { expect, it } from 'vitest';
import { IgnorePatterns } from '../../../../../src/core/text/patterns/ignore-patterns.ts';
import { pathPattern } from '../../../../../src/core/text/patterns/path-pattern.ts';

it.each(['a/b.txt', '*', 'a[b]?', '!x', '#x', 'x ', '\\', 'a\\*'])(
  '%j means itself, and not what it matches',
  (path) => {
    const rules = new IgnorePatterns({ lines: [pathPattern(path)], ignoreCase: false });
    expect([rules.ignores(path, false), rules.ignores('other', false)]).toEqual([true, false]);
  },
);

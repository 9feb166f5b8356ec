import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import { fileSets } from '../../../../src/review/choices/file-sets.ts';
import { splitPairs } from '../../../../src/review/choices/lock-pairs.ts';

it('names a manifest and its lock file of which an apply took one only; they stay two decisions', () => {
  const outcome = (path: string, verdict: 'applied' | 'conflict' | 'same') => ({ path: path as RelPath, verdict });
  expect(fileSets(['package.json', 'package-lock.json'])).toEqual([]);
  expect(
    splitPairs([
      ...[outcome('package.json', 'applied'), outcome('package-lock.json', 'conflict')],
      ...[outcome('a/go.mod', 'conflict'), outcome('a/go.sum', 'same'), outcome('Cargo.toml', 'applied')],
      ...[
        outcome('b/Gemfile', 'applied'),
        outcome('b/Gemfile.lock', 'same'),
        outcome('b/package-lock.json', 'conflict'),
      ],
    ]),
  ).toEqual([
    { applied: 'package.json', left: 'package-lock.json' },
    { applied: 'a/go.sum', left: 'a/go.mod' },
  ]);
});

it('takes a file with the name of what every object has for no manifest', () => {
  const names = ['__proto__', 'constructor', 'a/toString', 'a/hasOwnProperty'];
  expect(splitPairs(names.map((path) => ({ path: path as RelPath, verdict: 'applied' })))).toEqual([]);
});

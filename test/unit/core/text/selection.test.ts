import { expect, it } from 'vitest';
import { selectPaths } from '../../../../src/core/text/selection.ts';

it('excludes every letter case of a name, and includes the one that --include names', () => {
  const selection = selectPaths({
    exclude: ['*.key', '/Build/*', 'vendor/', 'all/'],
    include: ['public.key', 'build/keep.txt', 'Vendor/', 'all/kept'],
    mask: ['.ENV'],
  });
  const files = {
    'a.KEY': true,
    'public.key': false,
    'sub/public.key': false,
    'Public.Key': true,
    'BUILD/out.txt': true,
    'build/keep.txt': false,
    'build/KEEP.txt': true,
    'vendor/lib.txt': true,
    'Vendor/lib.txt': false,
    // What is brought back is a directory, not every name in it; and nothing comes back out of one that stays out.
    'Vendor/lib.key': true,
    'all/kept': true,
  };
  const leftOut = Object.keys(files).map((file) => [file, selection.leftOut(file, false)]);
  expect(Object.fromEntries(leftOut)).toEqual(files);
  expect([selection.leftOut('vendor', true), selection.leftOut('Vendor', true)]).toEqual([true, false]);
  expect(['.env', 'sub/.Env', '.environment'].map((file) => selection.masked(file))).toEqual([true, true, false]);
});

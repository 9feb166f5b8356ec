import { expect, it } from 'vitest';
import { forget } from '../../../../src/workspace/base/generations/manifest.ts';
import { packRows, type Row, type RowKind, readRows } from '../../../../src/workspace/scan/packed-directory.ts';
import type { Snapshot } from '../../../../src/workspace/scan/snapshot.ts';

const row = (name: string, kind: RowKind): Row => ({
  name,
  kind,
  mode: 0o755,
  size: 1,
  mtimeMs: 5,
  ctimeMs: 5,
  ino: 1,
  dev: 1,
  nlink: 1,
});

/** Directories end with '/'; parents come first. */
function snapshotOf(paths: readonly string[]): Snapshot {
  const rows = new Map<string, Row[]>([['', []]]);
  for (const one of paths) {
    const plain = one.replace(/\/$/, '');
    const parent = plain.includes('/') ? plain.slice(0, plain.lastIndexOf('/')) : '';
    rows.get(parent)?.push(row(plain.slice(plain.lastIndexOf('/') + 1), one.endsWith('/') ? 'd' : 'f'));
    if (one.endsWith('/')) rows.set(plain, []);
  }
  return new Map([...rows].map(([dir, found]) => [dir, packRows(found)]));
}

const pathsOf = (snapshot: Snapshot): string[] =>
  [...snapshot].flatMap(([dir, section]) =>
    [...readRows(section).keys()].map((name) => (dir === '' ? name : `${dir}/${name}`)),
  );

it('removes the given paths with everything below them; a given directory that still exists counts as changed', () => {
  const before = snapshotOf(['a/', 'a/f', 'a/deep/', 'a/deep/f', 'ab/', 'ab/f', 'b', 'c/', 'c/f', 'c/g']);
  const after = forget(before, [
    { path: 'a', directory: false },
    { path: 'a/deep/f', directory: false },
    { path: 'b', directory: false },
    { path: 'c', directory: true },
    { path: 'c/f', directory: false },
    { path: 'never/was', directory: false },
  ]);
  expect(pathsOf(after)).toEqual(['ab', 'c', 'ab/f', 'c/g']);
  expect([...after.keys()]).toEqual(['', 'ab', 'c']);
  const times = (name: string) => readRows(after.get('')).get(name)?.mtimeMs;
  expect([times('ab'), times('c')]).toEqual([5, 0]);
  expect(pathsOf(before)).toHaveLength(10);
});

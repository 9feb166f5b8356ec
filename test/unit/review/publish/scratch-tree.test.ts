import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import type { ChosenChange } from '../../../../src/core/types/review.ts';
import { type HeadTree, layOut } from '../../../../src/review/publish/scratch-tree.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-scratch-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let places = 0;

/** Lays out a tree of links, files and submodules for one changed path. */
async function lay(tree: Readonly<Record<string, string>>, changed: string) {
  const rows = Object.entries(tree).map(([name, mode]) => {
    const type = mode === '160000' ? 'commit' : 'blob';
    return [name, { mode, type, oid: 'a'.repeat(40), size: 1, path: name }] as const;
  });
  const objects = { read: async (oids: readonly string[]) => new Map(oids.map((oid) => [oid, Buffer.from('/tmp')])) };
  const head = { commit: 'c', entries: new Map(rows), prefix: '', objects } as unknown as HeadTree;
  const place = path.join(root, String(places++));
  const chosen = [{ change: { path: changed, kind: 'created' } }] as unknown as ChosenChange[];
  const result = layOut(head, chosen, place, openContentStore(`${place}-store`));
  return { place, result, has: (name: string) => existsSync(path.join(place, name)) };
}

it.each([
  ['a link', { 'a.d': '120000', a: '120000', 'a/b': '100644' }],
  ['a file', { a: '100644', 'a/b/c': '100644' }],
  ['a submodule', { a: '160000', 'a/b': '100644' }],
])('writes nothing of a tree with a path below %s', async (_, tree) => {
  const { place, result } = await lay(tree, 'a/b');
  await expect(result).rejects.toThrow(/is below an entry that is not a folder/);
  expect(existsSync(place)).toBe(false);
});

it('has the folders above a path, but none in place of something else', async () => {
  const one = await lay({ 'sub/keep': '100644' }, 'sub/deep/new');
  await one.result;
  expect([one.has('sub/deep'), one.has('sub/deep/new'), one.has('sub/keep')]).toEqual([true, false, false]);
  const two = await lay({ sub: '100644' }, 'sub/deep/new');
  await two.result;
  expect([two.has('sub'), two.has('sub/deep')]).toEqual([true, false]);
});

import { expect, it } from 'vitest';
import { insideGit, isRunningState, isStash, withoutPackedStash } from '../../../../src/core/git/layout.ts';

it.each([
  ['', 'index.lock', false],
  ['', 'HEAD.lock', false],
  ['', 'config.lock', false],
  ['', 'config.worktree.lock', false],
  ['', 'packed-refs.lock', false],
  ['', 'packed-refs.new', false],
  ['', 'shallow.lock', false],
  ['', 'shallow_Ab3xYz', false],
  ['', 'sharedindex_Ab3xYz', false],
  ['', 'next-index-4711.lock', false],
  ['', 'index.stash.4711', false],
  ['', 'gc.pid', false],
  ['modules/lib', 'gc.pid', false],
  ['worktrees/side', 'index.lock', false],
  ['refs/heads/feature', 'one.lock', false],
  ['logs/refs/heads', 'main.lock', false],
  ['objects', 'maintenance.lock', false],
  ['objects', 'tmp_objdir-incoming-Ab3xYz', true],
  ['objects/pack', 'tmp_pack_Ab3xYz', false],
  ['objects/pack', 'tmp_idx_Ab3xYz', false],
  ['objects/pack', '.tmp-4711-pack-abc.pack', false],
  ['objects/info', 'commit-graph.lock', false],
  ['objects/3f', 'tmp_obj_Ab3xYz', false],
  ['modules/third/lib/objects/3f', 'tmp_obj_Ab3xYz', false],
])('%s/%s is left by a git that runs', (dir, name, isDirectory) => {
  expect(isRunningState(dir, name, isDirectory)).toBe(true);
});

it.each([
  ['', 'index', false],
  ['', 'shallow', false],
  ['', 'sharedindex.0123456789abcdef', false],
  ['', 'gc.log', false],
  ['modules', 'yarn.lock', true],
  ['worktrees', 'a.lock', true],
  ['worktrees/side', 'locked', false],
  ['refs/heads', 'tmp_work', false],
  ['refs/heads/objects', 'tmp_work', false],
  ['refs/heads/modules/x/objects', 'tmp_work', false],
  ['refs/heads', 'packed-refs.new', false],
  ['objects/pack', 'pack-0123.keep', false],
  ['lfs/tmp', 'tmp_x', false],
])('%s/%s is kept', (dir, name, isDirectory) => {
  expect(isRunningState(dir, name, isDirectory)).toBe(false);
});

it.each([
  ['src', undefined],
  ['.github/workflows', undefined],
  ['.git', ''],
  ['.git/refs/heads', 'refs/heads'],
  ['sub/.git/objects', 'objects'],
  ['.git/modules/lib', 'modules/lib'],
  ['a.git/objects', undefined],
])('%s is inside git at %s', (dir, inner) => {
  expect(insideGit(dir)).toBe(inner);
});

it.each([
  ['refs', 'stash', true],
  ['logs/refs', 'stash', true],
  ['modules/lib/refs', 'stash', true],
  ['refs/heads', 'stash', false],
  ['refs/heads/refs', 'stash', false],
  ['refs', 'stash2', false],
])('%s/%s is a stash: %s', (dir, name, is) => {
  expect(isStash(dir, name)).toBe(is);
});

it('leaves the ref of stashes out of packed refs, and nothing else', () => {
  const head = '# pack-refs with: peeled fully-peeled sorted \n';
  const main = `${'a'.repeat(40)} refs/heads/main\n${'b'.repeat(40)} refs/heads/stash\n`;
  const tag = `${'c'.repeat(40)} refs/tags/v1\n^${'d'.repeat(40)}\n`;
  expect(withoutPackedStash(`${head}${main}${'e'.repeat(40)} refs/stash\n${tag}`)).toBe(head + main + tag);
  expect(withoutPackedStash(head + main + tag)).toBe(head + main + tag);
});

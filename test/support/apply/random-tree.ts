import type { Node, Tree } from './tree.ts';

/** Numbers from a seed, so that a failing run can be had again. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const NAMES = ['a', 'b', 'c d', 'é'];
const MODES = [0o644, 0o600, 0o755];

function randomNode(next: (below: number) => number, canBeFolder: boolean): Node {
  const kind = next(canBeFolder ? 6 : 4);
  if (kind >= 4) return { kind: 'dir', mode: 0o755 };
  if (kind === 3) return { kind: 'symlink', target: ['a', '../b', '/nowhere'][next(3)] as string };
  return { kind: 'file', text: `text ${next(4)}`, mode: MODES[next(MODES.length)] as number };
}

function fill(tree: Map<string, Node>, below: string, depth: number, next: (below: number) => number): void {
  for (const name of NAMES) {
    if (next(3) === 0) continue;
    const path = below + name;
    const node = randomNode(next, depth < 3);
    tree.set(path, node);
    if (node.kind === 'dir') fill(tree, `${path}/`, depth + 1, next);
  }
}

export function randomTree(next: (below: number) => number): Tree {
  const tree = new Map<string, Node>();
  fill(tree, '', 1, next);
  return tree;
}

/** A tree after some edits, `most` at most: files rewritten, removed, replaced by another kind, added; modes changed. */
export function edited(tree: Tree, next: (below: number) => number, most = 5): Tree {
  const result = new Map(tree);
  for (let edit = next(most + 1); edit > 0; edit--) {
    const paths = [...result.keys()];
    const path = paths[next(Math.max(1, paths.length))];
    const node = path === undefined ? undefined : result.get(path);
    const what = next(5);
    if (path === undefined || node === undefined || what === 0) {
      const folders = ['', ...paths.filter((name) => result.get(name)?.kind === 'dir').map((name) => `${name}/`)];
      const added = `${folders[next(folders.length)]}${NAMES[next(NAMES.length)]}${next(2) === 0 ? '' : '2'}`;
      if (!result.has(added)) result.set(added, randomNode(next, added.split('/').length < 3));
    } else if (what === 1) remove(result, path);
    else if (what === 2) {
      remove(result, path);
      const replacement = randomNode(next, path.split('/').length < 3);
      result.set(path, replacement);
      if (replacement.kind === 'dir' && next(2) === 0)
        result.set(`${path}/n`, { kind: 'file', text: 'new', mode: 0o644 });
    } else if (node.kind === 'file') {
      result.set(
        path,
        what === 3 ? { ...node, text: `text ${next(6)}` } : { ...node, mode: MODES[next(MODES.length)] as number },
      );
    }
  }
  return result;
}

function remove(tree: Map<string, Node>, path: string): void {
  for (const name of [...tree.keys()]) if (name === path || name.startsWith(`${path}/`)) tree.delete(name);
}

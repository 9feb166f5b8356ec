import fc from 'fast-check';
import type { Node, Tree } from '../apply/tree.ts';

/** A file whose first line identifies it, however it is edited. */
function text(id: string): string {
  return `id ${id}\n${Array.from({ length: 8 }, (_, line) => `${id} has a line ${line} of its own\n`).join('')}`;
}

const file = (content: string): Node => ({ kind: 'file', text: content, mode: 0o644 });
const dir: Node = { kind: 'dir', mode: 0o755 };

export const idOf = (content: string): string => /^id .*/.exec(content)?.[0] ?? '';

export const BASE: Tree = new Map<string, Node>([
  ['.gitignore', file('out/\n*.tmp\n')],
  ['Makefile', file(text('make'))],
  ['a.txt', file(text('a'))],
  ['b.txt', file(text('b'))],
  ['cfg', dir],
  ['cfg/sub', dir],
  ['cfg/sub/y', file(text('y'))],
  ['cfg/x', file(text('x'))],
  ['d', dir],
  ['d/one.txt', file(text('one'))],
  ['d/two.txt', file(text('two'))],
  ['empty', file('')],
  ['link', { kind: 'symlink', target: 'a.txt' }],
  ['out', dir],
  ['out/kept.txt', file(text('kept'))],
  ['twin1', file(text('twin'))],
  ['twin2', file(text('twin'))],
]);

/** By the rules of BASE, whatever the session made of them. */
export const isIgnored = (path: string): boolean => path === 'out' || path.startsWith('out/') || path.endsWith('.tmp');

const OLD = [...BASE].filter(([, node]) => node.kind !== 'dir').map(([path]) => path);
const FOLDERS = ['cfg', 'cfg/sub', 'd', 'out'];
const NEW = [
  'new/n1',
  'new/deep/n2',
  'd/moved',
  'moved.txt',
  'out/a.txt',
  'out/deep/o',
  'one.tmp',
  'cfg/one.tmp',
  'a.txt/in',
];

const edit = fc.oneof(
  fc.record({
    op: fc.constant('move' as const),
    from: fc.constantFrom(...OLD),
    to: fc.oneof(fc.constantFrom(...NEW), fc.constantFrom(...OLD)),
    edited: fc.boolean(),
  }),
  fc.record({ op: fc.constant('edit' as const), path: fc.constantFrom(...OLD) }),
  fc.record({ op: fc.constant('delete' as const), path: fc.constantFrom(...OLD, ...FOLDERS) }),
  fc.record({ op: fc.constant('create' as const), path: fc.constantFrom(...NEW) }),
  fc.record({ op: fc.constant('toFile' as const), path: fc.constantFrom(...FOLDERS) }),
  fc.record({ op: fc.constant('toLink' as const), path: fc.constantFrom(...FOLDERS, 'a.txt') }),
  fc.record({ op: fc.constant('toFolder' as const), path: fc.constantFrom(...OLD), inside: fc.boolean() }),
  fc.record({
    op: fc.constant('setAside' as const),
    path: fc.constantFrom(...OLD),
    to: fc.constantFrom('out/a.txt', 'out/deep/o', 'one.tmp', 'inside'),
    edited: fc.boolean(),
  }),
  fc.record({ op: fc.constant('unignore' as const) }),
);
export type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;
export const edits = fc.array(edit, { minLength: 1, maxLength: 6 });

/** The tree after the edits; those that are not possible by then change nothing. */
export function afterEdits(base: Tree, all: readonly Edit[]): Tree {
  const tree = new Map(base);
  for (const one of all) doEdit(tree, one);
  return tree;
}

function doEdit(tree: Map<string, Node>, one: Edit): void {
  switch (one.op) {
    case 'move': {
      const node = tree.get(one.from);
      if (node === undefined || node.kind === 'dir' || one.from === one.to || tree.get(one.to)?.kind === 'dir') return;
      remove(tree, one.from);
      if (put(tree, one.to, one.edited ? changed(node) : node)) return;
      tree.set(one.from, node);
      return;
    }
    case 'edit': {
      const node = tree.get(one.path);
      if (node !== undefined) tree.set(one.path, changed(node));
      return;
    }
    case 'delete':
      remove(tree, one.path);
      return;
    case 'create':
      if (!tree.has(one.path)) put(tree, one.path, file(text(`new ${one.path}`)));
      return;
    case 'toFile':
    case 'toLink':
      if (!tree.has(one.path)) return;
      remove(tree, one.path);
      tree.set(one.path, one.op === 'toFile' ? file(text(`file ${one.path}`)) : { kind: 'symlink', target: 'b.txt' });
      return;
    case 'toFolder': {
      const node = tree.get(one.path);
      if (node === undefined || node.kind === 'dir') return;
      tree.set(one.path, dir);
      tree.set(`${one.path}/${one.inside ? 'main' : 'other'}`, one.inside ? node : file(text('other')));
      return;
    }
    case 'setAside': {
      const node = tree.get(one.path);
      if (node === undefined || node.kind === 'dir' || one.path === one.to) return;
      const isInside = one.to === 'inside';
      const to = isInside ? `${one.path}/kept.tmp` : one.to;
      if (tree.get(to)?.kind === 'dir') return;
      tree.set(one.path, isInside ? dir : { kind: 'symlink', target: to });
      if (!put(tree, to, one.edited ? changed(node) : node)) tree.set(one.path, node);
      return;
    }
    case 'unignore':
      if (tree.get('.gitignore')?.kind === 'file') tree.set('.gitignore', file('*.tmp\n'));
  }
}

function changed(node: Node): Node {
  return node.kind === 'file' ? { ...node, text: `${node.text}a line more\n` } : node;
}

/** False where a file is in the way. */
function put(tree: Map<string, Node>, path: string, node: Node): boolean {
  const folders: string[] = [];
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  if (folders.some((folder) => tree.has(folder) && tree.get(folder)?.kind !== 'dir')) return false;
  for (const folder of folders) tree.set(folder, dir);
  tree.set(path, node);
  return true;
}

function remove(tree: Map<string, Node>, path: string): void {
  for (const name of [...tree.keys()]) if (name === path || name.startsWith(`${path}/`)) tree.delete(name);
}

import type { RelPath } from '../../../src/core/text/path.ts';
import type { ListedEntry } from '../../../src/core/types/collector.ts';
import type { Collector } from '../../../src/workspace/collector/client.ts';
import type { Delta } from '../../../src/workspace/layer/layer.ts';
import type { Node, Tree } from '../apply/tree.ts';

/** What a collector tells of two trees in memory: 'base', and 'upper' as the session left it. */
export function treeCollector(base: Tree, session: Tree): { readonly collector: Collector; readonly delta: Delta } {
  const treeOf = (root: string): Tree => (root === 'base' ? base : session);
  const read = async function* (root: string, path: RelPath): AsyncGenerator<Buffer> {
    const node = treeOf(root).get(path);
    if (node?.kind !== 'file') throw new Error(`no file ${path} in ${root}`);
    yield Buffer.from(node.text);
  };
  const list = async function* (root: string, below = ''): AsyncGenerator<ListedEntry> {
    for (const [path, node] of [...treeOf(root)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (below === '' || path.startsWith(`${below}/`)) yield listed(path, node);
    }
  };
  const collector = {
    list,
    listUpTo: list,
    read,
    readUpTo: read,
    stat: async (root: string, path: string) => {
      const node = treeOf(root).get(path);
      return node === undefined ? undefined : listed(path, node);
    },
  } as unknown as Collector;
  const present = [...session].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, node]) => listed(path, node));
  return { collector, delta: { present, deleted: [...base.keys()].filter((path) => !session.has(path)), opaque: [] } };
}

function listed(path: string, node: Node): ListedEntry {
  return {
    path: path as RelPath,
    kind: node.kind,
    mode: node.kind === 'symlink' ? 0o777 : node.mode,
    size: node.kind === 'file' ? Buffer.byteLength(node.text) : 0,
    mtimeNs: '0',
    ctimeNs: '0',
    ino: '1',
    nlink: 1,
    uid: 0,
    gid: 0,
    ...(node.kind === 'symlink' ? { target: node.target } : {}),
  };
}

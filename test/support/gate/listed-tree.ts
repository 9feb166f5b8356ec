import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { decodeBytes, encodeBytes, type RelPath } from '../../../src/core/text/path.ts';
import type { ListedEntry } from '../../../src/core/types/collector.ts';
import type { EntryKind } from '../../../src/core/types/entry.ts';
import type { Collector } from '../../../src/workspace/collector/client.ts';
import type { Delta } from '../../../src/workspace/layer/layer.ts';

/** A directory at one moment, with the content of its files: what a collector would list and read. */
export type ListedTree = ReadonlyMap<string, { readonly entry: ListedEntry; readonly bytes?: Buffer }>;

/** Reads everything below a directory. */
export function listTree(root: string): ListedTree {
  const tree = new Map<string, { entry: ListedEntry; bytes?: Buffer }>();
  const visit = (below: string): void => {
    const folder = encodeBytes(below === '' ? root : `${root}/${below}`);
    for (const name of readdirSync(folder, { encoding: 'buffer' }).map(decodeBytes).sort()) {
      const own = below === '' ? name : `${below}/${name}`;
      const full = encodeBytes(`${root}/${own}`);
      const stat = lstatSync(full, { bigint: true });
      const kind = kindOf(stat);
      const bytes = kind === 'file' ? readFileSync(full) : undefined;
      const entry: ListedEntry = {
        path: own as RelPath,
        kind,
        mode: Number(stat.mode & 0o7777n),
        size: bytes?.length ?? 0,
        mtimeNs: String(stat.mtimeNs),
        ctimeNs: String(stat.ctimeNs),
        ino: String(stat.ino),
        nlink: Number(stat.nlink),
        uid: 0,
        gid: 0,
        ...(kind === 'symlink' ? { target: decodeBytes(readlinkSync(full, { encoding: 'buffer' })) } : {}),
        ...(kind === 'file' && stat.nlink > 1n ? { linkGroup: String(stat.ino) } : {}),
      };
      tree.set(own, { entry, ...(bytes === undefined ? {} : { bytes }) });
      if (kind === 'dir') visit(own);
    }
  };
  visit('');
  return tree;
}

function kindOf(stat: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isBlockDevice(): boolean;
}): EntryKind {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'dir';
  if (stat.isSymbolicLink()) return 'symlink';
  if (stat.isFIFO()) return 'fifo';
  if (stat.isSocket()) return 'socket';
  return stat.isBlockDevice() ? 'block' : 'char';
}

/** A collector of two trees: 'base', and 'upper' as the session left it. */
export function collectorOf(
  base: ListedTree,
  session: ListedTree,
): { readonly collector: Collector; readonly delta: Delta } {
  const treeOf = (root: string): ListedTree => (root === 'base' ? base : session);
  const read = async function* (root: string, path: string): AsyncGenerator<Buffer> {
    const bytes = treeOf(root).get(path)?.bytes;
    if (bytes === undefined) throw new Error(`no file ${path} in ${root}`);
    yield bytes;
  };
  const list = async function* (root: string, below = ''): AsyncGenerator<ListedEntry> {
    for (const [path, { entry }] of treeOf(root)) if (below === '' || path.startsWith(`${below}/`)) yield entry;
  };
  const stat = async (root: string, path: string) => treeOf(root).get(path)?.entry;
  const collector = { list, listUpTo: list, read, readUpTo: read, stat } as unknown as Collector;
  const present = [...session].flatMap(([path, { entry }]) => (isSame(base.get(path)?.entry, entry) ? [] : [entry]));
  return { collector, delta: { present, deleted: [...base.keys()].filter((path) => !session.has(path)), opaque: [] } };
}

/** Whether nothing touched the entry. Both lists are of the same inodes, so the kernel's change time shows it. */
function isSame(before: ListedEntry | undefined, after: ListedEntry): boolean {
  if (before?.kind !== after.kind || before.mode !== after.mode) return false;
  return after.kind === 'dir' || (before.ino === after.ino && before.ctimeNs === after.ctimeNs);
}

import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { ContentStore } from '../../../src/core/store/content.ts';
import { decodeBytes, encodeBytes, type RelPath } from '../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../src/core/types/entry.ts';

/** One thing of a tree in memory. */
export type Node =
  | { readonly kind: 'file'; readonly text: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dir'; readonly mode: number };

/** Path → thing; parents are always there as folders. */
export type Tree = ReadonlyMap<string, Node>;

/** Lays a tree down in an empty folder, with old times that no clock gives by accident. */
export function writeTree(root: string, tree: Tree): void {
  const paths = [...tree.keys()].sort();
  for (const [at, name] of paths.entries()) {
    const node = tree.get(name) as Node;
    const full = path.join(root, name);
    if (node.kind === 'dir') mkdirSync(full);
    else if (node.kind === 'symlink') symlinkSync(node.target, full);
    else {
      writeFileSync(full, node.text);
      chmodSync(full, node.mode);
      utimesSync(full, 1_500_000_000.123456 + at, 1_500_000_000.123456 + at);
    }
  }
  for (const [at, name] of paths.reverse().entries()) {
    const node = tree.get(name) as Node;
    if (node.kind !== 'dir') continue;
    chmodSync(path.join(root, name), node.mode);
    utimesSync(path.join(root, name), 1_400_000_000.654321 + at, 1_400_000_000.654321 + at);
  }
  utimesSync(root, 1_300_000_000.111111, 1_300_000_000.111111);
}

/** What is below a folder now. */
export function readTree(root: string, below = ''): Tree {
  const tree = new Map<string, Node>();
  const folder = encodeBytes(path.join(root, below));
  for (const name of readdirSync(folder, { encoding: 'buffer' }).map(decodeBytes).sort()) {
    const relative = below === '' ? name : `${below}/${name}`;
    const full = encodeBytes(path.join(root, relative));
    const stats = lstatSync(full);
    const mode = stats.mode & 0o7777;
    if (stats.isSymbolicLink()) tree.set(relative, { kind: 'symlink', target: readlinkSync(full) });
    else if (stats.isFile()) tree.set(relative, { kind: 'file', text: readFileSync(full, 'utf8'), mode });
    else {
      tree.set(relative, { kind: 'dir', mode });
      for (const [key, value] of readTree(root, relative)) tree.set(key, value);
    }
  }
  return tree;
}

/** Times of everything below a folder and of itself, to the microsecond. */
export function readTimes(root: string, tree: Tree): Record<string, string> {
  const times: Record<string, string> = {};
  for (const name of ['', ...tree.keys()]) {
    times[name] = String(lstatSync(path.join(root, name), { bigint: true }).mtimeNs / 1000n);
  }
  return times;
}

/** The changes from one tree to another, with all contents in the store, as the collector gives them. */
export async function changesBetween(base: Tree, session: Tree, store: ContentStore): Promise<Change[]> {
  const changes: Change[] = [];
  for (const name of [...new Set([...base.keys(), ...session.keys()])].sort()) {
    const [a, b] = [base.get(name), session.get(name)];
    if (JSON.stringify(a) === JSON.stringify(b)) continue;
    const before = a && (await entryOf(a, store));
    const after = b && (await entryOf(b, store));
    const kind = !a ? 'created' : !b ? 'deleted' : a.kind !== b.kind ? 'type' : onlyMode(a, b) ? 'mode' : 'modified';
    changes.push({ path: name as RelPath, kind, ...(before && { before }), ...(after && { after }) });
  }
  return changes;
}

function onlyMode(a: Node, b: Node): boolean {
  return a.kind === 'dir' || (a.kind === 'file' && b.kind === 'file' && a.text === b.text);
}

async function entryOf(node: Node, store: ContentStore): Promise<Entry> {
  if (node.kind === 'symlink') return { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: '0', target: node.target };
  if (node.kind === 'dir') return { kind: 'dir', mode: node.mode, size: 0, mtimeNs: '0' };
  const { digest, size } = await store.put([Buffer.from(node.text)]);
  return { kind: 'file', mode: node.mode, size, mtimeNs: '0', digest };
}

/** A store in memory, for the many runs of a property: its promises are those of the real one. */
export function memoryStore(): ContentStore {
  const contents = new Map<string, Buffer>();
  return {
    async put(chunks) {
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(Buffer.from(chunk));
      const content = Buffer.concat(parts);
      const digest = createHash('sha256').update(content).digest('hex');
      contents.set(digest, content);
      return { digest, size: content.length };
    },
    has: async (digest) => contents.has(digest),
    flush: async () => undefined,
    async read(digest) {
      const content = contents.get(digest);
      if (content === undefined) throw new Error(`no content ${digest}`);
      return content;
    },
    pieces: (digest) => [contents.get(digest) ?? Buffer.alloc(0)],
  };
}

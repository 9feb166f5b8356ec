import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What is at one path of a tree. */
export interface TreeEntry {
  /** Kind and mode, as stat(2) has them. */
  readonly mode: number;
  readonly owner: string;
  /** 0 for a directory. */
  readonly size: number;
  /** In milliseconds; 0 for a link. */
  readonly time: bigint;
  /** Digest of a file, target of a link. */
  readonly content: string;
  /** The first of the names that this inode has in the tree, when it has several. */
  readonly group: string;
}

/** A plain full walk of a tree, written apart from src/workspace/scan's own: by path, bytes as latin1. */
export function treeEntries(root: string): Map<string, TreeEntry> {
  const found = new Map<string, TreeEntry>();
  const names = new Map<string, string[]>();
  const visit = (full: Buffer, name: string): void => {
    const stat = lstatSync(full, { bigint: true });
    const size = stat.isDirectory() ? 0 : Number(stat.size);
    let content = '';
    if (stat.isFile() && size < 1 << 26) content = createHash('sha256').update(readFileSync(full)).digest('hex');
    if (stat.isSymbolicLink()) content = readlinkSync(full, 'latin1');
    const time = stat.isSymbolicLink() ? 0n : stat.mtimeNs / 1_000_000n;
    const owner = `${stat.uid}:${stat.gid}`;
    found.set(name, { mode: Number(stat.mode), owner, size, time, content, group: '' });
    if (stat.isFile() && stat.nlink > 1n) {
      const inode = `${stat.dev}:${stat.ino}`;
      names.set(inode, [...(names.get(inode) ?? []), name]);
    }
    if (!stat.isDirectory()) return;
    for (const entry of readdirSync(full, { encoding: 'buffer' })) {
      const below = entry.toString('latin1');
      visit(Buffer.concat([full, Buffer.from('/'), entry]), name === '.' ? below : `${name}/${below}`);
    }
  };
  visit(Buffer.from(root), '.');
  for (const group of names.values()) {
    if (group.length === 1) continue;
    const first = group.toSorted()[0] as string;
    for (const name of group) found.set(name, { ...(found.get(name) as TreeEntry), group: first });
  }
  return found;
}

/** The same as text, for a comparison of whole trees: kind and mode, owner, size, time, content, inode group. */
export function treeFacts(root: string): Map<string, string> {
  const facts = new Map<string, string>();
  for (const [name, { mode, owner, size, time, content, group }] of treeEntries(root))
    facts.set(name, `${mode.toString(8)} ${owner} ${size} ${time} ${content}${group === '' ? '' : ` as ${group}`}`);
  return facts;
}

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * What a plain full comparison sees of a tree, written apart from src/workspace's own walk: path (bytes as latin1) to
 * kind and mode, size, time in milliseconds, target and content.
 */
export function treeFacts(root: string): Map<string, string> {
  const facts = new Map<string, string>();
  const visit = (full: Buffer, name: string): void => {
    const stat = lstatSync(full);
    let content = '';
    if (stat.isFile() && stat.size < 1 << 26) content = createHash('sha256').update(readFileSync(full)).digest('hex');
    if (stat.isSymbolicLink()) content = readlinkSync(full, 'latin1');
    const size = stat.isDirectory() ? 0 : stat.size;
    const time = stat.isSymbolicLink() ? 0 : lstatSync(full, { bigint: true }).mtimeNs / 1_000_000n;
    facts.set(name, `${stat.mode.toString(8)} ${size} ${time} ${content}`);
    if (!stat.isDirectory()) return;
    for (const entry of readdirSync(full, { encoding: 'buffer' })) {
      const below = entry.toString('latin1');
      visit(Buffer.concat([full, Buffer.from('/'), entry]), name === '.' ? below : `${name}/${below}`);
    }
  };
  visit(Buffer.from(root), '.');
  return facts;
}

import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRelPath, type RelPath } from '../../src/core/text/path.ts';
import type { ListedEntry, TreeReader } from '../../src/core/types/collector.ts';

/** A TreeReader over a directory that the test itself made, for tests without an engine. Follows nothing. */
export function homeReader(dir: string): TreeReader {
  return {
    async *list(_root, below) {
      yield* walk(dir, below ?? '');
    },
    async *read(_root, path) {
      if (!(await lstat(join(dir, path))).isFile()) throw new Error(`not a plain file: ${path}`);
      for await (const chunk of createReadStream(join(dir, path))) yield chunk as Buffer;
    },
  };
}

async function* walk(dir: string, below: string): AsyncGenerator<ListedEntry> {
  for (const name of (await readdir(join(dir, below)).catch(() => [])).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const facts = await lstat(join(dir, path), { bigint: true });
    const kind = facts.isFile() ? 'file' : facts.isDirectory() ? 'dir' : facts.isSymbolicLink() ? 'symlink' : 'fifo';
    yield {
      path: parseRelPath(path) as RelPath,
      kind,
      mode: Number(facts.mode) & 0o7777,
      size: facts.isFile() ? Number(facts.size) : 0,
      mtimeNs: String(facts.mtimeNs),
      uid: Number(facts.uid),
      gid: Number(facts.gid),
      ino: String(facts.ino),
      ctimeNs: '0',
      nlink: Number(facts.nlink),
    };
    if (kind === 'dir') yield* walk(dir, path);
  }
}

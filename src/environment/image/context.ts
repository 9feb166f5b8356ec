import { link, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Pack, type PackOptions, pack } from 'tar-fs';
import { removeTree } from '../../core/host/files/remove-tree.ts';
import type { Archive } from '../../core/types/engine.ts';

/** One file of a build context: bytes, or a file of the same file system that is not copied. */
export interface ContextEntry {
  /** Relative to the context, '/' between components. */
  readonly path: string;
  readonly content: Uint8Array | string | { readonly file: string };
}

/**
 * Writes a build context into a directory below `parent`, runs `use` with its archive, and removes the directory. The
 * same entries give the same bytes on every machine: the engine's build cache looks at names and modes.
 */
export async function withContext(
  parent: string,
  entries: readonly ContextEntry[],
  use: (archive: Archive) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(parent, 'context-'));
  let archive: Pack | undefined;
  try {
    for (const { path, content } of entries) {
      const target = join(dir, path);
      await mkdir(dirname(target), { recursive: true });
      if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(target, content);
      else await link(content.file, target);
    }
    archive = pack(dir, OPTIONS);
    // `use` gets an error too, if it still reads.
    archive.on('error', () => undefined);
    await use(archive);
  } finally {
    archive?.destroy();
    await removeTree(dir);
  }
}

/** Its types do not know `sort` yet. */
const OPTIONS: PackOptions & { readonly sort: true } = {
  sort: true,
  map: (header) =>
    Object.assign(header, { mode: header.type === 'directory' ? 0o755 : 0o644, mtime: new Date(0), uid: 0, gid: 0 }),
};

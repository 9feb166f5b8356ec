import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import type { ContentReader, Digest } from '../types/entry.ts';
import { makePrivateDir, syncDir } from './record.ts';

export interface StoredContent {
  readonly digest: Digest;
  readonly size: number;
}

/** Frozen bytes under their SHA-256; nothing in it is ever changed. */
export interface ContentStore extends ContentReader {
  /**
   * Stores what the chunks hold and gives its digest; the bytes are on the disk when it resolves, their names after
   * {@link ContentStore.flush}. An error of the source leaves nothing behind. Throws RunClaudeError STORE_UNWRITABLE.
   */
  put(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredContent>;
  has(digest: Digest): Promise<boolean>;
  /** Makes the names durable: to be called before a record says that the content is there. */
  flush(): Promise<void>;
}

/** Opens (and makes) a store in a directory of ours. */
export function openContentStore(dir: string): ContentStore {
  makePrivateDir(dir);
  const touched = new Set<string>();
  const pathOf = (digest: Digest): string => {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new RunClaudeError('CONTENT_MISSING', `not a digest: ${digest}`);
    return path.join(dir, digest.slice(0, 2), digest);
  };
  const has = async (digest: Digest): Promise<boolean> => {
    try {
      return (await stat(pathOf(digest))).isFile();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  };
  return {
    has,
    async put(chunks) {
      const beside = path.join(dir, `.new-${randomBytes(8).toString('hex')}`);
      try {
        const stored = await writeHashed(beside, chunks);
        if (await has(stored.digest)) {
          await rm(beside, { force: true });
          return stored;
        }
        const target = pathOf(stored.digest);
        const folder = path.dirname(target);
        if (!touched.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
        touched.add(folder);
        // Equal content only: renaming over an equal file of another put is no change.
        await rename(beside, target);
        return stored;
      } catch (cause) {
        await rm(beside, { force: true });
        throw cause;
      }
    },
    async read(digest) {
      let content: Buffer;
      try {
        content = await readFile(pathOf(digest));
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw new RunClaudeError('CONTENT_MISSING', `the session's store has no content ${digest}`, { cause });
      }
      if (createHash('sha256').update(content).digest('hex') !== digest) {
        throw new RunClaudeError(
          'CONTENT_DAMAGED',
          `the session's store was changed: ${digest} is not what was frozen`,
          {
            hint: 'Nothing of it was used. Look at the disk, then discard the session or collect it again.',
          },
        );
      }
      return content;
    },
    async flush() {
      for (const folder of touched) syncDir(folder);
      touched.clear();
      syncDir(dir);
    },
  };
}

/** Writes the chunks to a new file, synced, hashing on the way. */
async function writeHashed(
  file: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<StoredContent> {
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(file, 'wx', 0o600).catch((cause: Error) => {
    throw unwritable(file, cause);
  });
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      await handle.appendFile(chunk).catch((cause: Error) => {
        throw unwritable(file, cause);
      });
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
  return { digest: hash.digest('hex'), size };
}

function unwritable(file: string, cause: Error): RunClaudeError {
  return new RunClaudeError('STORE_UNWRITABLE', `cannot write the session's store (${file}): ${cause.message}`, {
    cause,
    hint: 'Free some space on that disk; the session is kept as it is.',
  });
}

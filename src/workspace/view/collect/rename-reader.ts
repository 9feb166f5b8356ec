import { createHash } from 'node:crypto';
import type { ContentStore } from '../../../core/store/content.ts';
import type { RenameReader, WithheldFile } from '../../../core/types/change/rename.ts';
import type { Collector } from '../../collector/client.ts';

/** Contents for the search for renames: frozen ones from the store, withheld ones from the session's layer. */
export function renameReader({
  collector,
  store,
}: {
  readonly collector: Pick<Collector, 'readUpTo'>;
  readonly store: ContentStore;
}): RenameReader {
  const withheld = (file: WithheldFile): AsyncIterable<Buffer> => collector.readUpTo('upper', file.path, file.size);
  return {
    frozen: async ({ digest }) => (digest === undefined ? undefined : store.read(digest)),
    digest: (file) =>
      readable(async () => {
        const hash = createHash('sha256');
        for await (const chunk of withheld(file)) hash.update(chunk);
        return hash.digest('hex');
      }),
    withheld: (file) =>
      readable(async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of withheld(file)) chunks.push(Buffer.from(chunk));
        return Buffer.concat(chunks);
      }),
  };
}

async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as { code?: string }).code !== 'COLLECTOR_READ') throw error;
    return undefined;
  }
}

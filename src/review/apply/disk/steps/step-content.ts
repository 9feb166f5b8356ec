import { MAX_IN_MEMORY_BYTES } from '../../../../core/text/in-memory.ts';
import type { ContentReader, Entry } from '../../../../core/types/entry.ts';

/**
 * The frozen content that a step writes. Large content is read in pieces; an error after the last one means that none
 * of it may be used. Throws as {@link ContentReader.read}.
 */
export async function stepContent(
  content: ContentReader,
  { digest, size = 0 }: Partial<Pick<Entry, 'digest' | 'size'>>,
): Promise<Iterable<Uint8Array> | undefined> {
  if (digest === undefined) return undefined;
  const pieces = content.pieces(digest);
  return size > MAX_IN_MEMORY_BYTES ? pieces : [...pieces];
}

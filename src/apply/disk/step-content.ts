import { type ContentReader, type Entry, HELD_BYTES } from '../../types/entry.ts';

/**
 * Frozen content that a step writes. What is large comes in pieces, and an error after the last of them means that
 * nothing of it may count. Throws as {@link ContentReader.read}.
 */
export async function stepContent(
  content: ContentReader,
  { digest, size = 0 }: Partial<Pick<Entry, 'digest' | 'size'>>,
): Promise<Iterable<Uint8Array> | undefined> {
  if (digest === undefined) return undefined;
  const pieces = content.pieces(digest);
  return size > HELD_BYTES ? pieces : [...pieces];
}

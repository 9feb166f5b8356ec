import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { usageError } from '../../core/errors.ts';
import { MAX_PATCH_BYTES } from './sources/patch.ts';

/**
 * The bytes of a file, or of standard input for `-`. `what`: names what is read, in the words of a message.
 *
 * @throws {RunClaudeError} USAGE for a terminal, a file that cannot be read, and more than {@link MAX_PATCH_BYTES}
 */
export async function readInput(
  file: string,
  what: string,
  stdin: Readable & { readonly isTTY?: boolean } = process.stdin,
): Promise<Buffer> {
  if (file === '-' && stdin.isTTY === true)
    throw usageError(`${what} is read from standard input, which is a terminal`, 'Pipe it in.');
  const stream = file === '-' ? stdin : createReadStream(file);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_PATCH_BYTES) throw usageError(`${what} is larger than ${MAX_PATCH_BYTES >> 20} MB`);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EISDIR' || code === 'ENOENT')
      throw usageError(`cannot read ${what}: ${file}: ${code}`);
    throw error;
  }
  return Buffer.concat(chunks);
}

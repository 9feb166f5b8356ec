import { closeSync, constants, openSync, readSync } from 'node:fs';
import { printable } from '../remote/printable.ts';

const MAX_WORD_BYTES = 4096;

/** The start of a file of the node, which may be anything: no link is followed, and a pipe does not stop this process. */
export function readWord(file: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(MAX_WORD_BYTES);
    return printable(buffer.toString('utf8', 0, readSync(fd, buffer)).trim());
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

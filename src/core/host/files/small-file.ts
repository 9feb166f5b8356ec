import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { usageError } from '../../errors.ts';

const MAX_FILE_BYTES = 1_048_576;

/** The text of a small regular file; undefined when there is none. Never blocks at a FIFO. Links are refused in a project. */
export function readSmallFile(file: string, links: 'follow' | 'refuse'): string | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | (links === 'refuse' ? constants.O_NOFOLLOW : 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw usageError(`cannot read ${file}: ${code === 'ELOOP' ? 'it is a symbolic link' : (code ?? 'unknown error')}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw usageError(`${file} is not a regular file`);
    if (stat.size > MAX_FILE_BYTES) throw usageError(`${file} is larger than 1 MB`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

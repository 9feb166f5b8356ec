import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The bytes of a regular file; undefined when it has more than `limit`, is not a regular file, or cannot be read. A link in
 * the last place is not followed.
 */
export function regularFileBytes(file: string | Buffer, limit: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > limit) return undefined;
    const bytes = Buffer.alloc(stat.size);
    let at = 0;
    while (at < bytes.length) {
      const read = readSync(fd, bytes, at, bytes.length - at, at);
      if (read === 0) break;
      at += read;
    }
    return bytes.subarray(0, at);
  } finally {
    closeSync(fd);
  }
}

import { NotAFolder } from '../host/host-path.ts';

/** EROFS is not among them: it may concern one mounted folder, and where it is the whole project nothing was done. */
export const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EIO']);

/** Errors that may not occur when each step of the batch is done by itself. */
export const ROOM_CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EBUSY: 'busy (a mount point, or in use)',
  ENOTEMPTY: 'the host has files of its own in it',
  EEXIST: 'the host has files of its own in it',
  ENAMETOOLONG: 'the name or path is too long for this file system',
  EILSEQ: 'this file system cannot hold the name',
  EINVAL: 'this file system cannot hold the name',
  ELOOP: 'a link is in the way',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an error',
  EXDEV: 'it is on another file system',
};

/** Whether an error concerns one path only, so that the others can go on. */
export function isOnePath(error: unknown): boolean {
  return (
    error instanceof NotAFolder ||
    ((error as NodeJS.ErrnoException).code !== undefined && !('hint' in (error as object)))
  );
}

/** Why a path failed, for messages. */
export function reasonOf(error: unknown): string {
  return REASONS[codeOf(error)] ?? (error as Error).message;
}

/** Node has no name for EDQUOT (libuv does not know it): 122 on Linux, 69 on macOS. */
export function codeOf(error: unknown): string {
  const { code = '', errno } = error as NodeJS.ErrnoException;
  return errno === (process.platform === 'darwin' ? -69 : -122) ? 'EDQUOT' : code;
}

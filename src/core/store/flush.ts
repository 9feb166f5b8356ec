import { fstatSync, fsync } from 'node:fs';
import { release } from 'node:os';
import { promisify } from 'node:util';
import { outputOfProgram } from '../host/programs/start-program.ts';

/** More files than this are forced to the disk by one call for their whole file system. */
export const MANY = 64;

/** On macOS libuv's fsync is fcntl(F_FULLFSYNC): the drive writes its cache too. */
const flushOne = promisify(fsync);

/** syncfs(2), which Node lacks; false where there is no such program or option, or where it failed. */
export async function syncFileSystem(path: string, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  // sync of BSD and macOS takes no options, and returns before anything is written.
  if (platform !== 'linux') return false;
  try {
    await outputOfProgram('sync', ['-f', path], { cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Forces open files and folders to the disk, all of them together. Returns those that could not be, with the error.
 */
export async function flushOpen(fds: readonly number[]): Promise<ReadonlyMap<number, Error>> {
  const failed = new Map<number, Error>();
  const [first] = fds;
  if (first !== undefined && fds.length > MANY && canSyncFileSystem(fds)) {
    if (await syncFileSystem(`/proc/${process.pid}/fd/${first}`)) return failed;
  }
  await Promise.all(fds.map((fd) => flushOne(fd).catch((error: Error) => failed.set(fd, error))));
  return failed;
}

/** Since Linux 5.8 syncfs(2) reports what could not be written, as fsync(2) does. */
function canSyncFileSystem(fds: readonly number[]): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  if (process.platform !== 'linux' || major < 5 || (major === 5 && minor < 8)) return false;
  return new Set(fds.map((fd) => fstatSync(fd).dev)).size === 1;
}

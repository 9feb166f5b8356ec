import { statSync } from 'node:fs';

/**
 * What stays of a folder that is renamed or moved on its file system: device, inode and time of birth, as `DEV:INO:BIRTH`. A new
 * folder may get the inode of a removed one, but not its birth. Undefined where nothing is there, or the file system keeps
 * no births.
 */
export function folderIdentity(folder: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = statSync(folder, { bigint: true });
    return birthtimeNs > 0n ? `${dev}:${ino}:${birthtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}

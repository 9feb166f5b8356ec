import { lstatSync, unlinkSync } from 'node:fs';
import { encodeBytes, parentPath } from '../../../core/text/path.ts';
import type { HostWalker } from './host/host-path.ts';

/**
 * Removes the temporary file next to a path; false when there is none. Throws NotAFolder when its folder was moved, and
 * what the system throws.
 */
export function removeTemporary(walker: HostWalker, path: string, temp: string): boolean {
  const place = Buffer.concat([walker.enter(parentPath(path)), encodeBytes(temp)]);
  try {
    unlinkSync(place);
    return true;
  } catch (error) {
    // A read-only file system returns EROFS for a name that does not exist as well.
    if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return false;
    throw error;
  }
}

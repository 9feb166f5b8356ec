import { readdirSync } from 'node:fs';
import { decodeBytes, parentPath } from '../../text/path.ts';
import { fingerprintHost } from './host-entry.ts';
import { type HostWalker, NotAFolder } from './host-path.ts';

/**
 * On disks that take several names for one (letter case, FAT's short names, Unicode forms): the first part of a path
 * that is there under another name only. A session's new `GITHUB~1/x` would otherwise be written into `.github`, which
 * is not the path that was audited.
 */
export interface HostNames {
  /** Undefined where each part that is there has this very name, or is about to have it, as `renamed` says. */
  aliasIn(path: string, renamed: (part: string) => boolean): string | undefined;
}

/** Listings are read once each. Preconditions: the walker is open while this is used. */
export function readHostNames(walker: HostWalker): HostNames {
  const listed = new Map<string, ReadonlySet<string> | undefined>();
  const names = (folder: string): ReadonlySet<string> | undefined => {
    if (!listed.has(folder)) listed.set(folder, listFolder(walker, folder));
    return listed.get(folder);
  };
  return {
    aliasIn(path, renamed) {
      for (let from = 0; from <= path.length; ) {
        const end = path.indexOf('/', from);
        const part = end < 0 ? path : path.slice(0, end);
        const known = names(parentPath(part));
        if (known === undefined || renamed(part)) return undefined;
        if (!known.has(part.slice(from))) return fingerprintHost(walker, part) === undefined ? undefined : part;
        if (end < 0) return undefined;
        from = end + 1;
      }
      return undefined;
    },
  };
}

/** Undefined: no folder, or one that cannot be listed (nothing new can be made in it unnoticed by the kernel). */
function listFolder(walker: HostWalker, folder: string): ReadonlySet<string> | undefined {
  try {
    return new Set(readdirSync(walker.enter(folder), { encoding: 'buffer' }).map(decodeBytes));
  } catch (error) {
    if (error instanceof NotAFolder || (error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}

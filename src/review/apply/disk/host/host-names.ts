import { readdirSync } from 'node:fs';
import { decodeBytes, parentPath } from '../../../../core/text/path.ts';
import { fingerprintHost } from './host-entry.ts';
import { type HostWalker, NotAFolder } from './host-path.ts';

/**
 * Names on file systems where several names mean one entry (letter case, FAT's short names, Unicode forms). A session's
 * new `GITHUB~1/x` would be written into `.github` there, which is not the path that was audited.
 */
export interface HostNames {
  /**
   * The first part of a path that exists under another name only; undefined where each part that exists has exactly
   * this name, or gets it in this apply (`isRenamed`).
   */
  aliasIn(path: string, isRenamed: (part: string) => boolean): string | undefined;
  /**
   * Whether two letter cases of a name are one entry where this path will be, as the nearest name with a letter shows. In
   * an empty project, as on most disks of the platform.
   */
  foldsAt(path: string): boolean;
  /** The names in a folder; none where it cannot be listed. */
  namesIn(folder: string): Iterable<string>;
}

/** Listings are read once each. Preconditions: the walker is open while this is used. */
export function readHostNames(walker: HostWalker): HostNames {
  const listed = new Map<string, ReadonlySet<string> | undefined>();
  const names = (folder: string): ReadonlySet<string> | undefined => {
    if (!listed.has(folder)) listed.set(folder, listFolder(walker, folder));
    return listed.get(folder);
  };
  const folding = new Map<string, boolean | undefined>();
  /** Undefined where no name of a folder shows it. */
  const foldsIn = (folder: string): boolean | undefined => {
    const known = names(folder) ?? new Set<string>();
    for (const name of known) {
      const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
      if (!/[a-z]/i.test(name) || known.has(other)) continue;
      return fingerprintHost(walker, folder === '' ? other : `${folder}/${other}`) !== undefined;
    }
    return undefined;
  };
  return {
    namesIn: (folder) => names(folder) ?? [],
    aliasIn(path, isRenamed) {
      for (let from = 0; from <= path.length; ) {
        const end = path.indexOf('/', from);
        const part = end < 0 ? path : path.slice(0, end);
        const known = names(parentPath(part));
        if (known === undefined || isRenamed(part)) return undefined;
        if (!known.has(part.slice(from))) return fingerprintHost(walker, part) === undefined ? undefined : part;
        if (end < 0) return undefined;
        from = end + 1;
      }
      return undefined;
    },
    foldsAt(path) {
      for (let folder = parentPath(path); ; folder = parentPath(folder)) {
        if (!folding.has(folder)) folding.set(folder, foldsIn(folder));
        const folds = folding.get(folder);
        if (folds !== undefined) return folds;
        if (folder === '') return process.platform === 'darwin';
      }
    },
  };
}

/** Undefined: not a folder, or one that cannot be listed. The kernel refuses to create a name that exists in it. */
function listFolder(walker: HostWalker, folder: string): ReadonlySet<string> | undefined {
  try {
    return new Set(readdirSync(walker.enter(folder), { encoding: 'buffer' }).map(decodeBytes));
  } catch (error) {
    if (error instanceof NotAFolder || (error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}

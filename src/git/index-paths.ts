import { readIndex } from './index-entries.ts';

/**
 * The paths that an index file of git tracks (format in git's Documentation/gitformat-index: versions 2, 3 and 4,
 * object names of 20 or 32 bytes). What cannot be read gives the paths before it: a path that is missing here is
 * taken for untracked.
 */
export function indexPaths(index: Buffer, objectNameBytes: 20 | 32 = 20): Set<string> {
  return readEntries(index, objectNameBytes).paths;
}

/**
 * As {@link indexPaths}; undefined where this file does not name all of them: it is damaged, shares entries with another
 * file (`link`), or has whole directories in place of their files (`sdir`).
 */
export function allIndexPaths(index: Buffer, objectNameBytes: 20 | 32 = 20): ReadonlySet<string> | undefined {
  const { paths, end } = readEntries(index, objectNameBytes);
  if (end === undefined) return undefined;
  const extensionsEnd = index.length - objectNameBytes;
  let at = end;
  while (at + 8 <= extensionsEnd) {
    if (['link', 'sdir'].includes(index.toString('latin1', at, at + 4))) return undefined;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === extensionsEnd ? paths : undefined;
}

/** `end`: where the extensions begin; undefined where not all entries can be read. */
function readEntries(index: Buffer, objectNameBytes: 20 | 32): { paths: Set<string>; end: number | undefined } {
  const paths = new Set<string>();
  const end = readIndex(index, objectNameBytes, ({ name }) => paths.add(name.toString('utf8')));
  return { paths, end };
}

import { indexExtensions, isPartOfIndex, readIndex } from './index-entries.ts';

/**
 * The paths that an index file of git tracks. What cannot be read gives the paths before it: a path that is missing here
 * is taken for untracked.
 */
export function indexPaths(index: Buffer, objectNameBytes: 20 | 32 = 20): Set<string> {
  return readPaths(index, objectNameBytes).paths;
}

/**
 * As {@link indexPaths}; undefined where this file does not name all of them: it is damaged, shares entries with another
 * file, or has whole directories in place of their files.
 */
export function allIndexPaths(index: Buffer, objectNameBytes: 20 | 32 = 20): ReadonlySet<string> | undefined {
  const { paths, end } = readPaths(index, objectNameBytes);
  const extensions = end === undefined ? undefined : indexExtensions(index, objectNameBytes, end);
  return extensions === undefined || isPartOfIndex(extensions) ? undefined : paths;
}

function readPaths(index: Buffer, objectNameBytes: 20 | 32): { paths: Set<string>; end: number | undefined } {
  const paths = new Set<string>();
  const end = readIndex(index, objectNameBytes, ({ name }) => paths.add(name.toString('utf8')));
  return { paths, end };
}

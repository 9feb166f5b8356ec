import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import { fileTotals } from '../scan/packed-directory.ts';
import type { WalkedTree } from '../scan/walk.ts';

/** What of the project is copied, for the start screen. */
export interface Entering {
  readonly files: number;
  readonly bytes: number;
  /** Paths that are left out or empty, a directory once. */
  readonly withheld: number;
  /** Of the given patterns, those that leave out and empty nothing. */
  readonly unmatched: readonly string[];
}

/** From the scan that a start makes anyway. `patterns`: of `--exclude` and `--mask`, as they were typed. */
export function countEntering(
  { snapshot, withheld }: Pick<WalkedTree, 'snapshot' | 'withheld'>,
  patterns: readonly string[],
): Entering {
  let files = 0;
  let bytes = 0;
  for (const section of snapshot.values()) {
    const totals = fileTotals(section);
    files += totals.files;
    bytes += totals.bytes;
  }
  const unmatched = patterns.filter((pattern) => {
    const one = new IgnorePatterns({ lines: [pattern], ignoreCase: true });
    return !withheld.some((path) => one.ignores(path, false) || one.ignores(path, true));
  });
  return { files, bytes, withheld: withheld.length, unmatched };
}

/** '1,234 files, 5.6 MB; 2 paths are left out or empty' */
export function enteringWords({ files, bytes, withheld }: Entering): string {
  const count = `${files.toLocaleString('en-US')} ${files === 1 ? 'file' : 'files'}`;
  const left = withheld === 0 ? '' : `; ${withheld} ${withheld === 1 ? 'path is' : 'paths are'} left out or empty`;
  return `${count}, ${sizeWords(bytes)}${left}`;
}

function sizeWords(bytes: number): string {
  if (bytes < 1024 ** 2) return `${Math.ceil(bytes / 1024)} KB`;
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

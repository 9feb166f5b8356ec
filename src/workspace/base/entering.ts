import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import type { Selection } from '../../core/text/selection.ts';
import { fileTotals } from '../scan/packed-directory.ts';
import type { WalkedTree } from '../scan/walk.ts';

/** What of the project is copied, for the start screen. */
export interface Entering {
  /** Of the project, without the files of git. */
  readonly files: number;
  readonly bytes: number;
  /** Bytes of `.git`, of the project and of repositories in it. Undefined where there is none. */
  readonly gitBytes: number | undefined;
  /** Paths that are left out or empty, a directory once. */
  readonly withheld: number;
  /** Of those, the ones that only the project's ignore rules match. */
  readonly ignored: number;
  /** Of the given patterns, those that leave out and empty nothing. */
  readonly unmatched: readonly string[];
}

export interface EnteringRules {
  /** What is left out or emptied by name. */
  readonly named: Pick<Selection, 'leftOut' | 'masked'>;
  /** Patterns of `--exclude` and `--mask`, as they were typed. */
  readonly typed: readonly string[];
}

/** From the scan that a start makes anyway. */
export function countEntering(
  { snapshot, withheld }: Pick<WalkedTree, 'snapshot' | 'withheld'>,
  { named, typed }: EnteringRules,
): Entering {
  let files = 0;
  let bytes = 0;
  let gitBytes: number | undefined;
  for (const [directory, section] of snapshot) {
    const totals = fileTotals(section);
    if (IN_GIT.test(directory)) gitBytes = (gitBytes ?? 0) + totals.bytes;
    else {
      files += totals.files;
      bytes += totals.bytes;
    }
  }
  const isNamed = (path: string): boolean =>
    named.leftOut(path, false) || named.leftOut(path, true) || named.masked(path);
  const unmatched = typed.filter((pattern) => {
    const one = new IgnorePatterns({ lines: [pattern], ignoreCase: true });
    return !withheld.some((path) => one.ignores(path, false) || one.ignores(path, true));
  });
  const ignored = withheld.filter((path) => !isNamed(path)).length;
  return { files, bytes, gitBytes, withheld: withheld.length, ignored, unmatched };
}

const IN_GIT = /(^|\/)\.git(\/|$)/;

/** '1,234 files, 5.6 MB, and .git (120 KB); 2 paths are left out or empty, 12 paths are ignored and left out' */
export function enteringWords({ files, bytes, gitBytes, withheld, ignored }: Entering): string {
  const count = `${files.toLocaleString('en-US')} ${files === 1 ? 'file' : 'files'}`;
  const git = gitBytes === undefined ? '' : `, and .git (${sizeWords(gitBytes)})`;
  const paths = (number: number, what: string): string[] =>
    number === 0 ? [] : [`${number.toLocaleString('en-US')} ${number === 1 ? 'path is' : 'paths are'} ${what}`];
  const left = [...paths(withheld - ignored, 'left out or empty'), ...paths(ignored, 'ignored and left out')];
  return `${count}, ${sizeWords(bytes)}${git}${left.length === 0 ? '' : `; ${left.join(', ')}`}`;
}

function sizeWords(bytes: number): string {
  if (bytes < 1024 ** 2) return `${Math.ceil(bytes / 1024)} KB`;
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

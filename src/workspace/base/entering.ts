import { parentPath } from '../../core/text/path.ts';
import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import type { Selection } from '../../core/text/selection.ts';
import { visible } from '../../core/text/visible.ts';
import type { ProjectSecrets, SecretFile } from '../../core/types/secret/secret-file.ts';
import { fileTotals, rowsOf, type Section } from '../scan/packed-directory.ts';
import { rowAt, type Snapshot } from '../scan/snapshot.ts';
import type { MaskedTree } from '../secrets/mask-secrets.ts';

/** What of the project the agent gets, for the start screen. */
export interface Entering {
  /** Of the project, without the files of git. */
  readonly files: number;
  readonly bytes: number;
  /** Bytes of `.git`, of the project and of repositories in it. Undefined where there is none. */
  readonly gitBytes: number | undefined;
  /** Of a shallow copy, whose `.git` is made later: the commits that it gets at most. */
  readonly commits?: number | undefined;
  /** Paths that are left out or empty, a directory once. */
  readonly withheld: number;
  /** Of those, the ones that only the project's ignore rules match. */
  readonly ignored: number;
  /** Files that are copied although git ignores them, of `files`, with their bytes. */
  readonly copiedIgnored: FileTotals;
  /** Files that hold secrets. */
  readonly secrets: readonly SecretFile[];
  /** Ignored or new files that the limits of the search for secrets left out. */
  readonly unsearched: readonly string[];
  /** Of the given patterns, those that leave out and empty nothing. */
  readonly unmatched: readonly string[];
}

type IsIgnored = (path: string, directory: boolean) => boolean;

interface FileTotals {
  readonly files: number;
  readonly bytes: number;
}

export interface EnteringRules {
  /** What is left out or emptied by name. */
  readonly named: Pick<Selection, 'leftOut' | 'masked'>;
  /** Patterns of `--exclude` and `--mask`, as they were typed. */
  readonly typed: readonly string[];
  /** Whether git ignores a path; undefined where no such path is copied. */
  readonly isIgnored?: IsIgnored | undefined;
  /** As in {@link Entering}. */
  readonly commits?: number | undefined;
}

/** From the scan that a start makes anyway. */
export function countEntering(
  { snapshot, withheld, secrets }: Pick<MaskedTree, 'snapshot' | 'withheld'> & Partial<Pick<MaskedTree, 'secrets'>>,
  { named, typed, isIgnored, commits }: EnteringRules,
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
  const copiedIgnored = isIgnored === undefined ? { files: 0, bytes: 0 } : countIgnored(snapshot, isIgnored);
  const all = secrets?.files ?? [];
  const unsearched = secrets?.found.unsearched ?? [];
  for (const { path, state } of all) {
    if (state !== 'masked') continue;
    // A masked file has its own kind of row.
    const { size = 0 } = rowAt(snapshot, path) ?? {};
    files += 1;
    bytes += size;
    if (isIgnored?.(path, false) !== true) continue;
    copiedIgnored.files += 1;
    copiedIgnored.bytes += size;
  }
  return {
    files,
    bytes,
    gitBytes: commits === undefined ? gitBytes : undefined,
    ...(gitBytes === undefined || commits === undefined ? {} : { commits }),
    withheld: withheld.length,
    ignored,
    copiedIgnored,
    secrets: all,
    unsearched,
    unmatched,
  };
}

/** As {@link countEntering}, of a project that the agent works on itself. Entries by path, parents before children. */
export function countMounted(
  entries: ReadonlyMap<string, { readonly kind: string; readonly size: number }>,
  isIgnored: IsIgnored,
  { files: secrets, unsearched }: ProjectSecrets,
): Entering {
  const all = { files: 0, bytes: 0 };
  const copiedIgnored = { files: 0, bytes: 0 };
  const ignoredDirectories = new Set<string>();
  let gitBytes: number | undefined;
  for (const [path, { kind, size }] of entries) {
    const isDirectory = kind === 'dir';
    if (!isDirectory && kind !== 'file') continue;
    if (IN_GIT.test(path)) {
      if (!isDirectory) gitBytes = (gitBytes ?? 0) + size;
      continue;
    }
    const ignored = ignoredDirectories.has(parentPath(path)) || isIgnored(path, isDirectory);
    if (isDirectory) {
      if (ignored) ignoredDirectories.add(path);
      continue;
    }
    for (const sum of ignored ? [all, copiedIgnored] : [all]) {
      sum.files += 1;
      sum.bytes += size;
    }
  }
  return { ...all, gitBytes, withheld: 0, ignored: 0, copiedIgnored, secrets, unsearched, unmatched: [] };
}

/** The ignored files of a snapshot. Of an ignored directory no name is read. */
function countIgnored(snapshot: Snapshot, isIgnored: IsIgnored): { files: number; bytes: number } {
  const sum = { files: 0, bytes: 0 };
  for (const [directory, section] of snapshot) {
    if (IN_GIT.test(directory)) continue;
    const { files, bytes } =
      directory !== '' && isIgnored(directory, true) ? fileTotals(section) : ignoredIn(directory, section, isIgnored);
    sum.files += files;
    sum.bytes += bytes;
  }
  return sum;
}

function ignoredIn(directory: string, section: Section, isIgnored: IsIgnored): FileTotals {
  const sum = { files: 0, bytes: 0 };
  for (const { name, kind, size } of rowsOf(section)) {
    if (kind !== 'f' || !isIgnored(directory === '' ? name : `${directory}/${name}`, false)) continue;
    sum.files += 1;
    sum.bytes += size;
  }
  return sum;
}

const IN_GIT = /(^|\/)\.git(\/|$)/;

/** '1,234 files, 5.6 MB, 30 of them ignored (2.0 MB), and .git (120 KB); 2 paths are left out or empty, 12 paths are ignored and left out' */
export function enteringWords(entering: Entering): string {
  const { files, bytes, withheld, ignored, copiedIgnored } = entering;
  const count = `${files.toLocaleString('en-US')} ${files === 1 ? 'file' : 'files'}`;
  const paths = (number: number, what: string): string[] =>
    number === 0 ? [] : [`${number.toLocaleString('en-US')} ${number === 1 ? 'path is' : 'paths are'} ${what}`];
  const left = [...paths(withheld - ignored, 'left out or empty'), ...paths(ignored, 'ignored and left out')];
  const copied = `${count}, ${sizeWords(bytes)}${ignoredWords(copiedIgnored, files)}${gitWords(entering)}`;
  return left.length === 0 ? copied : `${copied}; ${left.join(', ')}`;
}

/** A line for each pattern that matches nothing: a mistyped one keeps nothing out. */
export function unmatchedLines(entering: Entering | undefined): string[] {
  return (entering?.unmatched ?? []).map((pattern) => `${visible(pattern)}: nothing in the project matches it`);
}

function gitWords({ gitBytes, commits }: Entering): string {
  if (commits !== undefined) return `, and the last ${commits} commits of .git`;
  return gitBytes === undefined ? '' : `, and .git (${sizeWords(gitBytes)})`;
}

function ignoredWords({ files, bytes }: FileTotals, all: number): string {
  if (files === 0) return '';
  return all === 1 ? ', ignored' : `, ${files.toLocaleString('en-US')} of them ignored (${sizeWords(bytes)})`;
}

function sizeWords(bytes: number): string {
  if (bytes < 1024 ** 2) return `${Math.ceil(bytes / 1024)} KB`;
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MB` : `${(bytes / 1024 ** 3).toFixed(1)} GB`;
}

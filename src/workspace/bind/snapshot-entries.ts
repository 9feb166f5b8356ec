import type { EntryKind } from '../../core/types/entry.ts';
import type { HostEntry } from './scan-project.ts';
import type { EntryColumns } from './snapshot-format.ts';

const LETTERS: Readonly<Record<EntryKind, string>> = {
  file: 'f',
  dir: 'd',
  symlink: 'l',
  fifo: 'p',
  socket: 's',
  char: 'c',
  block: 'b',
};
const KINDS: Readonly<Record<string, EntryKind>> = Object.fromEntries(
  Object.entries(LETTERS).map(([kind, letter]) => [letter, kind as EntryKind]),
);

/** Entries field by field: like values are next to each other, so that thirty thousand of them compress to half a megabyte. */
export function toColumns(entries: ReadonlyMap<string, HostEntry>, unchanged: ReadonlySet<string>): EntryColumns {
  const all = [...entries.values()];
  return {
    paths: [...entries.keys()],
    kinds: all.map(({ kind }) => LETTERS[kind]).join(''),
    modes: all.map(({ mode }) => mode),
    uids: all.map(({ uid }) => uid),
    gids: all.map(({ gid }) => gid),
    sizes: all.map(({ size }) => size),
    inos: differences(all.map(({ ino }) => ino)),
    ctimes: differences(all.map(({ ctimeNs }) => ctimeNs)),
    mtimes: all.map(({ mtimeNs, ctimeNs }) => minus(mtimeNs, ctimeNs)),
    unchanged: [...entries.keys()].map((name) => (unchanged.has(name) ? '1' : '0')).join(''),
  };
}

/**
 * The entries again, and which of them git's index calls unchanged. Undefined where the columns have different lengths or
 * hold something else than numbers.
 */
export function fromColumns(
  columns: EntryColumns,
): { readonly entries: Map<string, HostEntry>; readonly unchanged: Set<string> } | undefined {
  const { paths, kinds, modes, uids, gids, sizes, unchanged } = columns;
  const lists = [kinds, modes, uids, gids, sizes, columns.inos, columns.ctimes, columns.mtimes, unchanged];
  if (lists.some(({ length }) => length !== paths.length)) return undefined;
  if ([columns.inos, columns.ctimes, columns.mtimes].some((list) => !list.every((one) => /^(-?\d{1,20})?$/.test(one))))
    return undefined;
  const inos = sums(columns.inos);
  const ctimes = sums(columns.ctimes);
  const entries = new Map<string, HostEntry>();
  const known = new Set<string>();
  for (const [at, path] of paths.entries()) {
    const kind = KINDS[kinds[at] as string];
    if (kind === undefined) return undefined;
    const ctimeNs = ctimes[at] as string;
    entries.set(path, {
      kind,
      mode: modes[at] as number,
      uid: uids[at] as number,
      gid: gids[at] as number,
      size: sizes[at] as number,
      mtimeNs: plus(ctimeNs, columns.mtimes[at] as string),
      ctimeNs,
      ino: inos[at] as string,
    });
    if (unchanged[at] === '1') known.add(path);
  }
  return { entries, unchanged: known };
}

function differences(values: readonly string[]): string[] {
  return values.map((value, at) => minus(value, values[at - 1] ?? '0'));
}

function sums(steps: readonly string[]): string[] {
  let sum = '0';
  return steps.map((step) => {
    sum = plus(sum, step);
    return sum;
  });
}

/** '' where both are the same, as most are. */
function minus(a: string, b: string): string {
  return a === b ? '' : String(BigInt(a) - BigInt(b));
}

function plus(a: string, b: string): string {
  return b === '' ? a : String(BigInt(a) + BigInt(b));
}

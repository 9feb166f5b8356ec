import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { CopiedValues } from '../../../core/secrets/copied-values.ts';
import { parentPath } from '../../../core/text/path.ts';
import { IgnorePatterns } from '../../../core/text/patterns/ignore-patterns.ts';
import { MAX_NAMED_BYTES, placeOf, valuesOf } from '../../secrets/search.ts';
import { absolutePath, type HostEntry, readRegularFile } from '../scan-project.ts';

export interface RealCopiesOptions {
  readonly root: string;
  readonly entries: ReadonlyMap<string, HostEntry>;
  /** The masked files, whose bytes `read` returns. */
  readonly masked: readonly string[];
  readonly read: (path: string) => Buffer;
  /** Whether git tracks a file of the project, which the agent reads as it is. */
  readonly isTracked: (path: string) => boolean;
  /** Patterns of files that the agent may read as they are. */
  readonly unmask?: readonly string[] | undefined;
  /** Values that the agent can read in other files. */
  readonly known: ReadonlySet<string>;
}

/** The largest new file that is searched for a value; of any size it is compared with the masked ones. */
const MAX_SEARCHED_BYTES = 64 << 10;
/** Of the project, this much is searched for a value before it counts as one that the agent cannot know. */
const MAX_TRACKED_BYTES = 16 << 20;
const MAX_TRACKED_FILE = 256 << 10;
const MIN_SAME_BYTES = 16;

/**
 * Whether a new file of any name is a copy of a masked file, or has one of its secrets: only the user can have made it, since
 * the agent has other values.
 */
export function realCopies(options: RealCopiesOptions): (path: string) => boolean {
  const { root, masked, read, known, unmask = [] } = options;
  const shown = new IgnorePatterns({ lines: unmask, ignoreCase: false });
  const digests = new Set<string>();
  const sizes = new Set<number>();
  const values = masked.flatMap((one) => {
    const bytes = read(one);
    const all = valuesOf(one, bytes);
    const unknown = all.filter(({ value }) => !known.has(value));
    // A file with a few bytes is the same as another one by chance.
    if (unknown.length > 0 || (all.length === 0 && bytes.length >= MIN_SAME_BYTES)) {
      sizes.add(bytes.length);
      digests.add(digestOf(bytes));
    }
    return unknown;
  });
  const copied = new CopiedValues(values);
  const readable = new Map<string, boolean>();
  return (path) => {
    if (shown.ignores(path, false)) return false;
    const { size } = lstatSync(absolutePath(root, path), { throwIfNoEntry: false }) ?? { size: 0 };
    const isSameSize = sizes.has(size);
    const isSearched = size <= MAX_SEARCHED_BYTES && placeOf(parentPath(path)).isSearched;
    const bytes = isSameSize || isSearched ? readRegularFile(root, path, MAX_NAMED_BYTES) : undefined;
    if (bytes === undefined) return false;
    if (isSameSize && digests.has(digestOf(bytes))) return true;
    if (!isSearched) return false;
    return copied.valuesIn(bytes).some(({ value }) => {
      const isReadable = readable.get(value) ?? isInTracked(options, value);
      readable.set(value, isReadable);
      return !isReadable;
    });
  };
}

function isInTracked({ root, entries, isTracked }: RealCopiesOptions, value: string): boolean {
  let left = MAX_TRACKED_BYTES;
  for (const [path, { kind, size }] of entries) {
    if (kind !== 'file' || size < value.length || size > MAX_TRACKED_FILE || !isTracked(path)) continue;
    left -= size;
    if (left < 0) return false;
    if (readRegularFile(root, path, MAX_TRACKED_FILE)?.includes(value) === true) return true;
  }
  return false;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

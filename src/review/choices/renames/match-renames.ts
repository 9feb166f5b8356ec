import { nameOfPath, type RelPath } from '../../../core/text/path.ts';
import type { MatchedRenames, RenameReader, WithheldFile } from '../../../core/types/change/rename.ts';
import type { Change, Rename } from '../../../core/types/entry.ts';
import {
  isWeak,
  matchIdentical,
  type RenameSource,
  type RenameTarget,
  renameSourcesOf,
  renameTargetOf,
} from './identical-renames.ts';
import { commonBytes, type Sketch, sketchOf } from './similarity.ts';

/** The smaller content must have at least this percentage of the larger one. The limit of git. */
const SIMILAR_PERCENT = 50;
/** Limit for one file. Larger files are compared by digest only. */
const SKETCH_BYTES_MAX = 1 << 20;
/** Limit for all files of one side. */
const SKETCHES_BYTES_MAX = 48 << 20;
/** Limit for the lines that are looked up while contents are compared. */
const COMPARED_PIECES_MAX = 20_000_000;
/** Limits for withheld files that have the size of a deleted one. Their digests are compared. */
const DIGESTS_MAX = 20_000;
const DIGESTS_BYTES_MAX = 512 << 20;
/** Limit each for deleted, new and withheld files whose contents are compared line by line. */
const SKETCHES_MAX = 2_000;

const AT_ONCE = 32;
/** A withheld file of another name must be this similar: licences are alike everywhere. */
const OTHER_NAME_PERCENT = 75;

/**
 * Finds for each deleted file or link the created or withheld one with the same or the most similar content. Identical
 * content comes first, then the highest similarity; the same name in another folder is preferred. For a file that a link
 * or a folder replaced, only withheld files are searched, and none matches if a visible one is more similar. The work is
 * limited: a file that is not compared is not a rename, and withheld files that were not compared are counted.
 */
export async function matchRenames(
  changes: readonly Change[],
  withheld: readonly WithheldFile[],
  reader: RenameReader,
): Promise<MatchedRenames> {
  const frozen = changes.flatMap(renameTargetOf);
  const sources = renameSourcesOf(changes, frozen);
  if (sources.size === 0) return { renames: [], uncompared: 0 };
  const frozenPaths = new Set<string>(frozen.map(({ path }) => path));
  const hidden = withheld
    .filter(({ path, size, kind }) => !frozenPaths.has(path) && (kind === 'symlink' || (kind === 'file' && size > 0)))
    .map(
      (file): RenameTarget => ({
        path: file.path,
        size: file.size,
        withheld: file,
        isVisible: false,
        isWithheld: true,
        isReplaced: false,
      }),
    );
  const renames: Rename[] = [];
  const take = (from: RelPath, to: RenameTarget, similarity: number): void => {
    sources.delete(from);
    renames.push({ from, to: to.path, similarity });
  };
  const identical = await digestsOf(hidden, [...sources.values()], reader);
  const taken = matchIdentical([...frozen, ...identical.known], sources, take, identical.digests);
  const rest = [...frozen, ...hidden].filter((target) => !taken.has(target) && !target.isReplaced);
  const similar = await matchSimilar(rest, sources, reader, take);
  return {
    renames: renames.sort((a, b) => (a.from < b.from ? -1 : 1)),
    uncompared: sources.size === 0 ? 0 : Math.max(identical.uncompared, similar.uncompared),
  };
}

/** Keys of the withheld files that can have the content of a deleted one: those of the same size. */
async function digestsOf(
  hidden: readonly RenameTarget[],
  sources: readonly RenameSource[],
  reader: RenameReader,
): Promise<{ digests: ReadonlyMap<RenameTarget, string>; known: readonly RenameTarget[]; uncompared: number }> {
  const sizes = new Set(sources.map(({ entry }) => (entry.kind === 'file' ? entry.size : -1)));
  const digests = new Map<RenameTarget, string>();
  const wanted: RenameTarget[] = [];
  let [bytes, uncompared] = [0, 0];
  for (const target of hidden) {
    const file = target.withheld as WithheldFile;
    if (file.kind === 'symlink') digests.set(target, `-> ${file.target ?? ''}`);
    else if (sizes.has(file.size)) {
      bytes += file.size;
      if (wanted.length >= DIGESTS_MAX || bytes > DIGESTS_BYTES_MAX) uncompared += 1;
      else wanted.push(target);
    }
  }
  await inBatches(wanted, async (target) => {
    const digest = await reader.digest(target.withheld as WithheldFile);
    if (digest === undefined) uncompared += 1;
    else digests.set(target, digest);
  });
  return { digests, known: hidden.filter((target) => digests.has(target)), uncompared };
}

/** The reader may be another process, which answers many requests at once faster than one after the other. */
async function inBatches<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(work));
}

interface Sketched<T> {
  readonly of: T;
  readonly size: number;
  readonly sketch: Sketch;
}

async function matchSimilar(
  targets: readonly RenameTarget[],
  sources: ReadonlyMap<string, RenameSource>,
  reader: RenameReader,
  take: (from: RelPath, to: RenameTarget, similarity: number) => void,
): Promise<{ readonly uncompared: number }> {
  const left = [...sources.values()].filter(({ entry }) => entry.kind === 'file');
  const sizes = left.map(({ entry }) => entry.size).sort((a, b) => a - b);
  const candidates = targets.filter(
    ({ size, entry, withheld }) => (entry ?? withheld)?.kind === 'file' && isAboutOneOf(size, sizes),
  );
  if (candidates.length === 0) return { uncompared: 0 };
  const ofSources = await sketches(
    left,
    ({ entry }) => entry.size,
    ({ entry }) => reader.frozen(entry),
    SKETCHES_MAX,
  );
  const names = new Set(left.map(({ path }) => nameOfPath(path)));
  const endings = new Set(left.map(({ path }) => endingOf(path)));
  /** If there are too many withheld files to compare all, the likely ones come first. */
  const rank = ({ path }: RenameTarget): number =>
    names.has(nameOfPath(path)) ? 0 : endings.has(endingOf(path)) ? 1 : 2;
  const visible = candidates.filter(({ entry }) => entry !== undefined);
  const hidden = candidates.filter(({ entry }) => entry === undefined).sort((a, b) => rank(a) - rank(b));
  const read = ({ entry, withheld }: RenameTarget): Promise<Buffer | undefined> =>
    entry === undefined ? reader.withheld(withheld as WithheldFile) : reader.frozen(entry);
  const ofVisible = await sketches(visible, ({ size }) => size, read, SKETCHES_MAX);
  const ofHidden = await sketches(hidden, ({ size }) => size, read, SKETCHES_MAX);
  const found = compareAll(ofSources, [...ofVisible, ...ofHidden]);
  const usedTargets = new Set<RenameTarget>();
  const keptInView = new Set<RenameSource>();
  for (const { source, target, similarity } of found.pairs) {
    if (!sources.has(source.path)) continue;
    if (source.isReplaced && !target.isWithheld) {
      keptInView.add(source);
      continue;
    }
    if (usedTargets.has(target) || keptInView.has(source)) continue;
    usedTargets.add(target);
    take(source.path, target, similarity);
  }
  const skipped = hidden.length - ofHidden.length;
  const isWhole = found.isWhole && left.length <= SKETCHES_MAX;
  return { uncompared: isWhole ? skipped : hidden.length };
}

interface SimilarPair {
  readonly source: RenameSource;
  readonly target: RenameTarget;
  readonly similarity: number;
}

/** Pairs, the best first. Files of the same name are compared first, so that the limit on the work affects the others. */
function compareAll(
  sources: readonly Sketched<RenameSource>[],
  targets: readonly Sketched<RenameTarget>[],
): { readonly pairs: readonly SimilarPair[]; readonly isWhole: boolean } {
  const pairs: (SimilarPair & { readonly sameName: boolean })[] = [];
  let pieces = 0;
  for (const sameName of [true, false]) {
    for (const source of sources) {
      for (const target of targets) {
        if ((nameOfPath(source.of.path) === nameOfPath(target.of.path)) !== sameName) continue;
        if (!canBeSimilar(source.size, target.size) || (!sameName && isWeak(target.of))) continue;
        pieces += Math.min(source.sketch.size, target.sketch.size);
        if (pieces > COMPARED_PIECES_MAX) return { pairs: best(pairs), isWhole: false };
        const common = commonBytes(source.sketch, target.sketch);
        const similarity = Math.floor((common * 100) / Math.max(source.size, target.size));
        const least = sameName || target.of.withheld === undefined ? SIMILAR_PERCENT : OTHER_NAME_PERCENT;
        if (similarity < least) continue;
        // 100 means identical content, which has matched by its digest already.
        pairs.push({ source: source.of, target: target.of, similarity: Math.min(99, similarity), sameName });
      }
    }
  }
  return { pairs: best(pairs), isWhole: true };
}

function best(pairs: readonly (SimilarPair & { readonly sameName: boolean })[]): readonly SimilarPair[] {
  const score = ({ similarity, sameName, target }: (typeof pairs)[number]): number =>
    similarity * 4 + (sameName ? 2 : 0) + (target.isVisible ? 1 : 0);
  return [...pairs].sort(
    (a, b) =>
      score(b) - score(a) || compareText(a.source.path, b.source.path) || compareText(a.target.path, b.target.path),
  );
}

async function sketches<T>(
  all: readonly T[],
  sizeOf: (one: T) => number,
  read: (one: T) => Promise<Buffer | undefined>,
  most: number,
): Promise<Sketched<T>[]> {
  const wanted: T[] = [];
  let bytes = 0;
  for (const one of all) {
    const size = sizeOf(one);
    if (wanted.length >= most) break;
    if (size > SKETCH_BYTES_MAX || bytes + size > SKETCHES_BYTES_MAX) continue;
    bytes += size;
    wanted.push(one);
  }
  const found = new Map<T, Sketched<T>>();
  await inBatches(wanted, async (one) => {
    const content = await read(one);
    if (content !== undefined) found.set(one, { of: one, size: content.length, sketch: sketchOf(content) });
  });
  return wanted.flatMap((one) => found.get(one) ?? []);
}

/** Whether one of the sizes, in ascending order, is close enough for similar content. */
function isAboutOneOf(size: number, sizes: readonly number[]): boolean {
  let [from, to] = [0, sizes.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sizes[middle] as number) * 100 < size * SIMILAR_PERCENT) from = middle + 1;
    else to = middle;
  }
  const nearest = sizes[from];
  return nearest !== undefined && canBeSimilar(nearest, size);
}

function canBeSimilar(a: number, b: number): boolean {
  return Math.min(a, b) * 100 >= Math.max(a, b) * SIMILAR_PERCENT;
}

function endingOf(path: string): string {
  const name = nameOfPath(path);
  return name.slice(Math.max(0, name.lastIndexOf('.')));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import { addedNames } from '../../../core/secrets/assignments.ts';
import { foldersOf, liesBelow, type RelPath } from '../../../core/text/path.ts';
import type { MaskedEdit } from '../../../core/types/entry.ts';
import type { Collector } from '../../collector/client.ts';
import type { CollectChangesOptions } from './collect-options.ts';
import type { ComparedEntry } from './compare-layer-to-base.ts';
import { inGit, untouched } from './ignored-aside.ts';

export interface WithoutMasked {
  readonly pairs: readonly ComparedEntry[];
  /** The masked files that the session changed. */
  readonly maskedEdits: readonly MaskedEdit[];
}

/** A longer file is compared up to here. */
const MAX_READ_BYTES = 1 << 20;

/** The changes without those of masked files and of what replaced one: the session's version has decoys in it. */
export async function setMaskedAside(
  pairs: readonly ComparedEntry[],
  { collector, masked = [] }: Pick<CollectChangesOptions, 'collector' | 'masked'>,
): Promise<WithoutMasked> {
  const names = new Set(masked);
  if (names.size === 0) return { pairs, maskedEdits: [] };
  const folders = foldersOf(masked);
  const isMasked = (path: string): boolean => !inGit(path) && (names.has(path) || liesBelow(path, names));
  // The folder of a masked file stays, with the file.
  const isItsFolder = ({ path, after }: ComparedEntry): boolean => folders.has(path) && after?.kind !== 'dir';
  const edits: MaskedEdit[] = [];
  for (const pair of pairs)
    if (names.has(pair.path) && !inGit(pair.path) && !untouched(pair)) {
      const edit = await editOf(pair, collector);
      if (edit !== undefined) edits.push(edit);
    }
  return { pairs: pairs.filter((pair) => !isMasked(pair.path) && !isItsFolder(pair)), maskedEdits: edits };
}

/** Undefined where the content is what it was. */
async function editOf({ path, before, after }: ComparedEntry, collector: Collector): Promise<MaskedEdit | undefined> {
  const old = before?.kind === 'file' ? await textAt(collector, 'base', path) : '';
  if (after?.kind !== 'file') return { path, added: [] };
  const now = await textAt(collector, 'upper', path);
  if (now === old) return undefined;
  return { path, added: addedNames(old, now) };
}

/** '' where it cannot be read. */
async function textAt(collector: Collector, root: 'base' | 'upper', path: string): Promise<string> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of collector.readUpTo(root, path as RelPath, MAX_READ_BYTES)) pieces.push(piece);
  } catch {
    return '';
  }
  return Buffer.concat(pieces).toString('utf8');
}

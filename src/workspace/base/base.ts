import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { isInDotGit } from '../../core/git/names.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import type { Decoy } from '../../core/secrets/decoy.ts';
import type { Problem } from '../../core/types/entry.ts';
import type { SecretFile } from '../../core/types/secret/secret-file.ts';
import { compareSnapshots, countEntries, rowAt } from '../scan/snapshot.ts';
import { isSameSearch } from '../secrets/find-secrets.ts';
import type { MaskedTree } from '../secrets/mask-secrets.ts';
import type { BaseOptions } from './base-options.ts';
import {
  type Filled,
  fillGeneration,
  hasRoot,
  marked,
  type Target,
  walkProject,
  wantedHeader,
} from './generations/fill-generation.ts';
import {
  cloneGeneration,
  genDir,
  highestNumber,
  newestGeneration,
  sweepGenerations,
} from './generations/generation.ts';
import { addRef } from './generations/generation-refs.ts';
import { knownSecrets, type Loaded, loadManifest, readHeader, usable } from './generations/manifest.ts';
import { isLittle, openStacked, stackedOn } from './generations/stacked.ts';
import { isIntact } from './generations/verify.ts';
import type { Prescan } from './prescan.ts';

// A base is a directory of generations, each a private snapshot of the project:
//   gen/N/tree      the snapshot     gen/N/nonce     proves to the collector that it reads this one
//   gen/N/manifest  written last     gen/N/journal   what a refresh under way may have left half done
//   users/ID.json   sessions that reference a generation, which then never changes
// A stacked generation holds only what differs from a whole one next to it: see stacked.ts.

export interface BaseGeneration {
  readonly dir: string;
  readonly entries: number;
  readonly leftOut: readonly Problem[];
  /** Paths of the project's own content that the copy lacks for any reason but the rules. */
  readonly missing: readonly string[];
  readonly withheld: readonly string[];
  readonly dropped: readonly string[];
  /** As Walked.lenders. */
  readonly lenders: readonly string[];
  readonly secrets: readonly SecretFile[];
  /** In the masked ones of these files. */
  readonly decoys: readonly Decoy[];
}

/** How old a prescan may be: what is saved in an editor counts until a session starts. */
const MAX_PRESCAN_AGE_MS = 1000;

/**
 * A generation equal to the project, with a reference of the session to it. Walks the project once and copies only what
 * differs from `newest`; what a crash left half done is done again. Removes the generations that are neither `newest` nor
 * `needed`. To be called with the base's lock.
 */
export async function bringUpToDate(
  options: BaseOptions,
  needed: ReadonlySet<number>,
  newest: number | undefined,
): Promise<BaseGeneration> {
  const { dir } = options;
  sweepGenerations(dir, new Set([...needed, ...(newest === undefined ? [] : withBelow(dir, newest))]));
  const prescan = await currentPrescan(options, newest);
  const old = newest === undefined ? undefined : loadGeneration(options, newest, prescan?.loaded);
  const walked = marked(
    options,
    prescan?.walked ?? (await walkProject(options, old && knownSecrets(old))),
    old?.header.unreadable ?? [],
  );
  const over = newest === undefined ? undefined : stackedOn(genDir(dir, newest));
  const mayStay = over !== undefined && options.stack && !options.verify;
  if (mayStay && newest !== undefined && old !== undefined && isEqual(old, walked)) {
    return entered(options, newest, { ...old.header, known: old.snapshot, walked });
  }
  const whole = over ?? newest;
  const found = over === undefined ? old : loadGeneration(options, over, undefined);
  const sound =
    options.verify && found !== undefined && whole !== undefined ? await soundOf(options, whole, found, walked) : found;
  // Before what lies below it changes.
  if (over !== undefined && newest !== undefined && !needed.has(newest))
    sweepGenerations(dir, new Set([...needed, over]));
  const target = await makeTarget(options, whole, sound, needed, walked);
  return entered(options, target.number, await fillGeneration(options, target, walked));
}

/** The newest finished generation; undefined where its record is damaged: a new one is made in its place. */
export function newestReadable(dir: string): number | undefined {
  const newest = newestGeneration(dir);
  try {
    if (newest !== undefined) withBelow(dir, newest);
    return newest;
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
}

/** A generation and the whole one that it may be stacked on. */
export function withBelow(dir: string, number: number): number[] {
  const over = stackedOn(genDir(dir, number));
  return over === undefined ? [number] : [number, over];
}

function isEqual({ header, snapshot }: Loaded, walked: MaskedTree): boolean {
  return (
    isSameSearch(header.secrets, walked.secrets.found) &&
    hasRoot(header, walked) &&
    !compareSnapshots(snapshot, walked.snapshot).any
  );
}

/** `--verify`: undefined, with a warning, where a generation is not what was copied. */
async function soundOf(
  options: BaseOptions,
  number: number,
  found: Loaded,
  walked: MaskedTree,
): Promise<Loaded | undefined> {
  if (await isIntact(path.join(genDir(options.dir, number), 'tree'), found, walked, options)) return found;
  options.tell({ kind: 'message', level: 'warning', text: 'The private copy was damaged. Making it anew.' });
  return undefined;
}

/**
 * The whole generation that was found, where no session references it or nothing differs. Otherwise a new one: stacked on
 * it where little differs, or next to it.
 */
async function makeTarget(
  { dir, stack }: BaseOptions,
  whole: number | undefined,
  from: Loaded | undefined,
  needed: ReadonlySet<number>,
  walked: MaskedTree,
): Promise<Target> {
  const number = highestNumber(dir) + 1;
  const differences = compareSnapshots(from?.snapshot ?? new Map(), walked.snapshot);
  const target = { number, from, differences, stacked: false };
  if (whole !== undefined && from !== undefined) {
    const same = isEqual(from, walked);
    if (!needed.has(whole) || same) return { ...target, number: whole };
    if (stack && isLittle(differences) && openStacked(dir, number, whole)) return { ...target, stacked: true };
    removeTreeSync(genDir(dir, number));
  }
  await cloneGeneration(genDir(dir, whole ?? 0), genDir(dir, number), from?.snapshot);
  return target;
}

/** Records that the session references the generation. */
function entered(
  options: BaseOptions,
  generation: number,
  { unreadable, dropped, secrets, known, walked, moved = [] }: Filled,
): BaseGeneration {
  const { dir, sessionId, sessionDir } = options;
  addRef(dir, sessionId, { generation, sessionDir });
  const leftOut = [...walked.leftOut, ...unreadable.filter((one) => rowAt(known, one.path) !== undefined)];
  const missing = [...leftOut.map((one) => one.path), ...moved].filter((one) => !isInDotGit(one));
  return {
    dir: genDir(dir, generation),
    entries: countEntries(known),
    leftOut,
    missing: [...new Set(missing)],
    withheld: walked.withheld,
    dropped,
    lenders: walked.lenders,
    secrets: walked.secrets.files,
    decoys: secrets?.decoys ?? [],
  };
}

/** The prescan, unless the user or another session may have changed something since. */
async function currentPrescan(
  { dir, prescan }: BaseOptions,
  current: number | undefined,
): Promise<Prescan | undefined> {
  const scanned = await prescan?.();
  if (scanned === undefined || scanned.generation !== current) return undefined;
  if (Date.now() - scanned.ended > MAX_PRESCAN_AGE_MS) return undefined;
  if (current === undefined) return scanned;
  if (scanned.loaded === undefined) return undefined;
  return readHeader(genDir(dir, current))?.state === scanned.loaded.header.state ? scanned : undefined;
}

function loadGeneration(options: BaseOptions, number: number, loaded: Loaded | undefined): Loaded | undefined {
  const gen = genDir(options.dir, number);
  const found = loaded ?? loadManifest(gen, options.tell);
  return found && usable(gen, found, wantedHeader(options));
}

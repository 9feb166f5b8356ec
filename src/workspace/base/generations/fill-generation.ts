import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { processIdentity } from '../../../core/host/processes/process.ts';
import { writeFileAtomic } from '../../../core/store/record.ts';
import type { Problem } from '../../../core/types/entry.ts';
import type { Tell } from '../../../core/types/event.ts';
import { lackingPaths } from '../../scan/lacking.ts';
import { compareSnapshots, type Differences, encodeSnapshot, type Snapshot } from '../../scan/snapshot.ts';
import { type WalkedTree, walkTree } from '../../scan/walk.ts';
import { isSameSearch } from '../../secrets/find-secrets.ts';
import { type MaskedTree, maskSecrets } from '../../secrets/mask-secrets.ts';
import type { BaseOptions } from '../base-options.ts';
import { withoutLostSubmodules } from '../lost-submodules.ts';
import { markIndexes } from '../mark-indexes.ts';
import { refreshTree } from '../refresh/refresh.ts';
import { genDir, maxEntryBytes } from './generation.ts';
import {
  forget,
  forgetRemarks,
  GENERATION_FORMAT,
  type Header,
  type HeaderSecrets,
  type knownSecrets,
  type Loaded,
  type WantedHeader,
  writeJournal,
} from './manifest.ts';
import { emptyTree, whiteoutOf } from './stacked.ts';

const ROUNDS = 4;

/** A generation that is to become equal to the project. */
export interface Target {
  readonly number: number;
  /** What its tree holds, or the tree that it is stacked on. */
  readonly from: Loaded | undefined;
  /** Between that and the project. */
  readonly differences: Differences;
  readonly stacked: boolean;
}

/** What a generation turned out to hold. */
export interface Filled extends Pick<Header, 'unreadable' | 'dropped'> {
  readonly secrets?: HeaderSecrets | undefined;
  readonly known: Snapshot;
  readonly walked: MaskedTree;
  /** What kept changing while it was copied. */
  readonly moved?: readonly string[];
}

/** Makes the generation equal to the project. What changes while it is copied is scanned again. */
export async function fillGeneration(options: BaseOptions, target: Target, first: MaskedTree): Promise<Filled> {
  const { number, from, stacked } = target;
  const gen = genDir(options.dir, number);
  const manifest = path.join(gen, 'manifest');
  const below = from?.snapshot ?? new Map();
  const unreadable = new Map(from?.header.unreadable.map((one) => [one.path, one]) ?? []);
  const dropped = new Map(from?.header.dropped.map((line) => [line, line]) ?? []);
  let walked = first;
  let known: Snapshot = below;
  let { differences } = target;
  let moved: readonly string[] = [];
  let header = from?.header;
  // A later round searches files that the first one left out, which need not be recorded at once.
  const isCurrent = (round: number): boolean =>
    hasRoot(header, walked) && (round > 1 || isSameSearch(header?.secrets, walked.secrets.found));
  for (let round = 1; differences.any || !isCurrent(round) || !existsSync(manifest); round++) {
    if (stacked && round > 1) {
      rmSync(manifest);
      emptyTree(gen);
      differences = compareSnapshots(below, walked.snapshot);
    }
    // Without a manifest, what a kill leaves is used by no command.
    if (existsSync(manifest)) writeJournal(gen, differences);
    const started = Date.now();
    const done = await refreshTree({
      tree: path.join(gen, 'tree'),
      walked,
      differences,
      owner: options.owner,
      whiteout: stacked ? whiteoutOf(gen) : undefined,
      tell: options.tell,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const missed = [...unreadable.keys()].sort().join('\0');
    if (unreadable.size > 0 || dropped.size > 0) forgetRemarks(differences, unreadable, dropped);
    for (const one of done.unreadable) unreadable.set(one.path, one);
    for (const line of done.dropped) dropped.set(line, line);
    ({ moved } = done);
    known = forget(
      walked.snapshot,
      moved.map((one) => ({ path: one, directory: false })),
    );
    const { mode, mtimeMs } = walked.rootRow;
    header = {
      ...wantedHeader(options),
      state: randomBytes(8).toString('hex'),
      root: { mode, mtimeMs },
      unreadable: [...unreadable.values()],
      dropped: [...dropped.values()],
      secrets: secretsOf(walked, stacked ? from?.header : header),
    };
    writeFileAtomic(manifest, encodeSnapshot(header, known), { durable: false });
    rmSync(path.join(gen, 'journal'), { force: true });
    // Scanned again: what moved; what took long; and once, what was being changed while it was walked. Only once, because
    // files that are written all the time would have every start walk for ever.
    const torn = round === 1 && walked.changed;
    // And what the marks in an index name, which was not known before.
    const isMarked = missed === [...unreadable.keys()].sort().join('\0');
    if (moved.length === 0 && !torn && isMarked && Date.now() - started < 1000) break;
    if (round === ROUNDS) {
      if (moved.length > 0) tellMoving(options.tell, moved);
      break;
    }
    const now = await walkProject(options, { snapshot: known, found: header.secrets });
    walked = marked(options, now, [...unreadable.values()]);
    differences = compareSnapshots(known, walked.snapshot);
  }
  return {
    unreadable: [...unreadable.values()],
    dropped: [...dropped.values()],
    secrets: header?.secrets,
    known,
    walked,
    moved,
  };
}

/** What a scan found, and the decoys of the tree: of unchanged files those of before. */
function secretsOf({ secrets: { found, files, decoys } }: MaskedTree, before: Header | undefined): HeaderSecrets {
  const masked = new Set(files.flatMap(({ path: one, state }) => (state === 'masked' ? [one] : [])));
  const kept = before?.secrets?.decoys.filter((one) => masked.has(one.path) && !decoys.has(one.path)) ?? [];
  return { ...found, decoys: [...kept, ...[...decoys.values()].flat()] };
}

/** The project as it is now, with its secrets masked, and its indexes as they are. */
export async function walkProject(
  options: BaseOptions,
  known: ReturnType<typeof knownSecrets> | undefined,
): Promise<MaskedTree> {
  const { dir, project: root, grafts, selection, unmask = [], signal } = options;
  const maxPathBytes = maxEntryBytes(dir);
  const quietly = signal === undefined ? {} : { signal };
  const walked = await walkTree({ root, grafts, selection, known: known?.snapshot, maxPathBytes, ...quietly });
  return maskSecrets(walked, { project: root, dir, unmask }, known);
}

/** The walked tree as the copy has it: git in it passes over what the copy lacks. */
export function marked({ selection }: BaseOptions, walked: MaskedTree, unreadable: readonly Problem[]): MaskedTree {
  const missing = [...walked.leftOut, ...unreadable].map((one) => one.path);
  const tree = markIndexes(withoutLostSubmodules(walked), lackingPaths(selection, missing));
  return { ...tree, secrets: walked.secrets };
}

export function wantedHeader(options: BaseOptions): WantedHeader {
  return {
    version: GENERATION_FORMAT,
    bootId: processIdentity().bootId,
    owner: options.owner ?? null,
    project: options.project,
  };
}

/** Whether the project's own directory is as it was. */
export function hasRoot(header: Header | undefined, { rootRow }: WalkedTree): boolean {
  return header?.root?.mode === rootRow.mode && header.root.mtimeMs === rootRow.mtimeMs;
}

function tellMoving(tell: Tell, moved: readonly string[]): void {
  const text = `Files kept changing while they were copied and are not in the copy: ${moved.slice(0, 5).join(', ')}${moved.length > 5 ? ` and ${moved.length - 5} more` : ''}`;
  tell({ kind: 'message', level: 'warning', text });
}

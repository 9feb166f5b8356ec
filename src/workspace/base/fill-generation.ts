import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { processIdentity } from '../../core/host/process.ts';
import { writeFileAtomic } from '../../core/store/record.ts';
import type { Problem } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import { lackingPaths } from '../scan/lacking.ts';
import { compareSnapshots, type Differences, encodeSnapshot, type Snapshot } from '../scan/snapshot.ts';
import { type WalkedTree, walkTree } from '../scan/walk.ts';
import type { BaseOptions } from './base-options.ts';
import { genDir, maxEntryBytes } from './generation.ts';
import { withoutLostSubmodules } from './lost-submodules.ts';
import {
  forget,
  forgetRemarks,
  GENERATION_FORMAT,
  type Header,
  type Loaded,
  type WantedHeader,
  writeJournal,
} from './manifest.ts';
import { markIndexes } from './mark-indexes.ts';
import { refreshTree } from './refresh/refresh.ts';
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
  readonly known: Snapshot;
  readonly walked: WalkedTree;
  /** What kept changing while it was copied. */
  readonly moved?: readonly string[];
}

/** Makes the generation equal to the project. What changes while it is copied is scanned again. */
export async function fillGeneration(options: BaseOptions, target: Target, first: WalkedTree): Promise<Filled> {
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
  for (let round = 1; differences.any || !hasRoot(header, walked) || !existsSync(manifest); round++) {
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
    walked = marked(options, await walkProject(options, known), [...unreadable.values()]);
    differences = compareSnapshots(known, walked.snapshot);
  }
  return { unreadable: [...unreadable.values()], dropped: [...dropped.values()], known, walked, moved };
}

/** The project as it is now, with its indexes as they are. */
export function walkProject(options: BaseOptions, known: Snapshot | undefined): Promise<WalkedTree> {
  const { dir, project: root, grafts, selection, signal } = options;
  const maxPathBytes = maxEntryBytes(dir);
  return walkTree({ root, grafts, selection, known, maxPathBytes, ...(signal === undefined ? {} : { signal }) });
}

/** The walked tree as the copy has it: git in it passes over what the copy lacks. */
export function marked({ selection }: BaseOptions, walked: WalkedTree, unreadable: readonly Problem[]): WalkedTree {
  const missing = [...walked.leftOut, ...unreadable].map((one) => one.path);
  return markIndexes(withoutLostSubmodules(walked), lackingPaths(selection, missing));
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

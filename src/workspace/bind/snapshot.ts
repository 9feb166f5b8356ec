import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deflateSync, inflateSync } from 'node:zlib';
import { RunClaudeError } from '../../core/errors.ts';
import { type ContentStore, openContentStore } from '../../core/store/content.ts';
import { type PackWriter, type Piece, readPiece, writePack } from '../../core/store/pack.ts';
import { readRecordFile, requireValid } from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import type { Digest } from '../../core/types/entry.ts';
import { type EarlierSources, findInGit } from './earlier-content.ts';
import { findRepositories, isExecutablePart, repositoryOf } from './repositories.ts';
import {
  type HostEntry,
  type ProjectScan,
  readLink,
  readRegularFile,
  scanProjectInTurns,
  TURN_MS,
} from './scan-project.ts';
import { fromColumns, toColumns } from './snapshot-entries.ts';
import {
  LIST_FORMAT,
  type PackedList,
  SNAPSHOT_FORMAT,
  type StoredMaps,
  type StoredSnapshot,
} from './snapshot-format.ts';
import { readTracked, type TrackedContent } from './tracked.ts';

/** A project before a bind session: every entry, and where its content can be had. Stored in the session's directory. */
export interface BindSnapshot {
  readonly entries: ReadonlyMap<string, HostEntry>;
  readonly repositories: ReadonlySet<string>;
  /** SHA-256 of the files whose content was kept, by path. */
  readonly digests: ReadonlyMap<string, Digest>;
  /** Where that content is in the pack. Empty where an earlier release kept it in the session's store. */
  readonly pieces: ReadonlyMap<Digest, Piece>;
  /** Targets of links, by path. */
  readonly targets: ReadonlyMap<string, string>;
  /** Directories that could not be listed, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Repositories out of the agent's reach that have content of the project. */
  readonly tracked: readonly TrackedContent[];
  /** Files whose content these repositories have, as git's index says. */
  readonly unchanged: ReadonlySet<string>;
  /** The generation of the base that the session references. */
  readonly generation: number | undefined;
}

/** Larger files are compared by metadata; their content is not kept. */
export const MAX_KEPT_BYTES: number = 4 * 1_048_576;

export interface SnapshotOptions {
  readonly root: string;
  readonly sessionDir: string;
  /** A mount covers the project's `.git`, which is not scanned. */
  readonly isShielded: boolean;
  /** Whether a tool may run a file of this name. */
  readonly isWatched: (path: string) => boolean;
  /** The generation of the base that the session references, and its files. */
  readonly base?: { readonly generation: number; readonly files: EarlierSources['generation'] } | undefined;
  /** The scan that the command began with; undefined where it is too old. */
  readonly scan?: ProjectScan | undefined;
}

/**
 * Takes the snapshot, and writes it to the disk before it resolves, so that a crash does not lose it. Content is kept of
 * what git or a tool may run, where neither the base nor git's objects have it: in one file, with one flush.
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<BindSnapshot> {
  const { root, sessionDir, isShielded, base } = options;
  const scan = options.scan ?? (await scanProjectInTurns(root, skipShielded(isShielded)));

  const repositories = findRepositories(scan.entries);
  const { repositories: tracked, unchanged } = readTracked(root, isShielded, scan.entries);
  const { toKeep, targets } = await chooseKept(options, scan, repositories, {
    sources: { generation: base?.files, tracked },
    unchanged,
  });
  const pack = writePack(packFile(sessionDir));
  let list: Piece;
  let snapshot: BindSnapshot;
  try {
    const digests = new Map<string, Digest>();
    const pieces = new Map<Digest, Piece>();
    for (const name of toKeep) {
      const bytes = readRegularFile(root, name, MAX_KEPT_BYTES);
      if (bytes === undefined) continue;
      const piece = pack.add(bytes);
      digests.set(name, piece.digest);
      pieces.set(piece.digest, piece);
    }
    const { entries, unreadable } = scan;
    const generation = base?.generation;
    snapshot = { entries, repositories, digests, pieces, targets, unreadable, tracked, unchanged, generation };
    list = addList(pack, snapshot);
  } catch (error) {
    pack.abandon();
    throw error;
  }
  pack.finish();
  const stored: StoredSnapshot = { version: 2, list };
  writeJsonAtomic(snapshotFile(sessionDir), stored);
  return snapshot;
}

/** The rules from before the session decide what its end shows. */
const IGNORE_FILE = /(^|\/)\.gitignore$/;

/** The files whose content is to be kept, and the targets of all links that are not git's own business. */
async function chooseKept(
  { root, isWatched }: SnapshotOptions,
  { entries }: ProjectScan,
  repositories: ReadonlySet<string>,
  { sources, unchanged }: { readonly sources: EarlierSources; readonly unchanged: ReadonlySet<string> },
): Promise<{ readonly toKeep: readonly string[]; readonly targets: ReadonlyMap<string, string> }> {
  const targets = new Map<string, string>();
  const toKeep: string[] = [];
  const watched: { name: string; seen: HostEntry; isTracked: boolean }[] = [];
  let turn = Date.now();
  for (const [name, seen] of entries) {
    if (Date.now() - turn > TURN_MS) {
      await nextTurn();
      turn = Date.now();
    }
    const repository = repositoryOf(name, repositories);
    if (repository !== undefined && !isExecutablePart(name, seen.kind, repository)) continue;
    if (seen.kind === 'symlink') targets.set(name, readLink(root, name) ?? '');
    if (seen.kind !== 'file' || seen.size > MAX_KEPT_BYTES) continue;
    // What git may execute is restored: no other place may answer for it.
    if (repository !== undefined || IGNORE_FILE.test(name)) toKeep.push(name);
    else if (sources.generation?.has(name, seen) !== true && isWatched(name))
      watched.push({ name, seen, isTracked: unchanged.has(name) });
  }
  const inGit = await findInGit(watched, sources.tracked);
  for (const { name } of watched) if (!inGit.has(name)) toKeep.push(name);
  return { toKeep, targets };
}

function addList(pack: PackWriter, snapshot: BindSnapshot): Piece {
  const list: PackedList = {
    columns: toColumns(snapshot.entries, snapshot.unchanged),
    repositories: [...snapshot.repositories],
    digests: [...snapshot.digests],
    pieces: [...snapshot.pieces.values()],
    targets: [...snapshot.targets],
    unreadable: [...snapshot.unreadable],
    tracked: snapshot.tracked.map((one) => ({ ...one, trees: [...one.trees], blobs: [...one.blobs] })),
    ...(snapshot.generation === undefined ? {} : { generation: snapshot.generation }),
  };
  return pack.add(deflateSync(JSON.stringify(list)));
}

/**
 * The snapshot of a session, for the command that follows a crash; undefined when there is none.
 *
 * @throws {RunClaudeError} RECORD_VERSION when another release wrote it in a form that this one does not know,
 * RECORD_DAMAGED, RECORD_UNREADABLE, CONTENT_MISSING, CONTENT_DAMAGED.
 */
export function readSnapshot(sessionDir: string): BindSnapshot | undefined {
  const kept = readRecordFile(snapshotFile(sessionDir), SNAPSHOT_FORMAT);
  if (kept === undefined) return undefined;
  if (!('list' in kept)) return { ...mapsOf(kept), ...NOTHING_ELSEWHERE, entries: new Map(kept.entries) };
  const file = packFile(sessionDir);
  const packed = inflateSync(readPiece(file, kept.list)).toString();
  const list = requireValid(JSON.parse(packed), LIST_FORMAT, file);
  const found = fromColumns(list.columns);
  if (found === undefined) {
    throw new RunClaudeError('RECORD_DAMAGED', `${file} has entries of different lengths`, { hint: LIST_FORMAT.hint });
  }
  const { pieces, tracked, generation } = list;
  return {
    ...mapsOf(list),
    ...found,
    pieces: new Map(pieces.map((piece) => [piece.digest, piece])),
    tracked: tracked.map((one) => ({ ...one, trees: new Map(one.trees), blobs: new Map(one.blobs) })),
    generation,
  };
}

/** The content that a snapshot itself keeps of a file; undefined where it keeps none. Throws as readPiece does. */
export async function readKept(sessionDir: string, snapshot: BindSnapshot, name: string): Promise<Buffer | undefined> {
  const digest = snapshot.digests.get(name);
  if (digest === undefined) return undefined;
  const piece = snapshot.pieces.get(digest);
  // Earlier releases kept each content in the session's store.
  return piece === undefined ? bindStore(sessionDir).read(digest) : readPiece(packFile(sessionDir), piece);
}

/** Of a snapshot that an earlier release wrote. */
const NOTHING_ELSEWHERE = { pieces: new Map(), tracked: [], unchanged: new Set<string>(), generation: undefined };

function mapsOf({ repositories, digests, targets, unreadable }: StoredMaps) {
  return {
    repositories: new Set(repositories),
    digests: new Map(digests),
    targets: new Map(targets),
    unreadable: new Map(unreadable),
  };
}

/** Skips the project's own `.git` where a mount covers it. */
export function skipShielded(isShielded: boolean): (name: string) => boolean {
  return (name) => isShielded && name === '.git';
}

/** The session's content store. */
export function bindStore(sessionDir: string): ContentStore {
  return openContentStore(path.join(sessionDir, 'store'));
}

/** The file with the content that a snapshot keeps, and its list. */
export function packFile(sessionDir: string): string {
  return path.join(sessionDir, 'bind.pack');
}

function snapshotFile(sessionDir: string): string {
  return path.join(sessionDir, 'bind.json');
}

import { parentPath } from '../core/text/path.ts';
import type { Change, Entry } from '../core/types/entry.ts';
import type { Found } from './general-rules/rule.ts';
import { type Scene, SETGID } from './input.ts';
import { resolveInBase } from './links.ts';

const SPECIAL_KINDS: Readonly<Record<string, string>> = {
  fifo: 'a FIFO',
  socket: 'a socket',
  char: 'a character device',
  block: 'a block device',
};
const SET_ID_BITS = 0o6000;
const EXECUTE_BITS = 0o111;
const WRITE_BY_OTHERS = 0o002;
const LARGE_FILE_BYTES = 100 << 20;
const SPARSE_FILE_BYTES = 1 << 20;
/** A file is sparse when less than one in so many of its bytes is allocated. */
const SPARSE_RATIO = 16;
const DAY_NS = 86_400_000_000_000n;

/** A look at what is there after the change. */
const atEntry =
  (see: (after: Entry, change: Change, scene: Scene) => readonly Found[]) =>
  (scene: Scene, change: Change): readonly Found[] =>
    change.after === undefined ? [] : see(change.after, change, scene);

/** A look at what is a file after the change. */
const atFile = (see: (after: Entry, change: Change, scene: Scene) => readonly Found[]) =>
  atEntry((after, change, scene) => (after.kind === 'file' ? see(after, change, scene) : []));

export const specialKind = atEntry(({ kind }) => {
  const special = SPECIAL_KINDS[kind];
  return special === undefined ? [] : [{ detail: special }];
});

export const otherKind = atEntry((after, change, scene) => {
  const { before } = change;
  if (before === undefined || before.kind === after.kind) return [];
  if (isCopyOfTarget(scene, change)) return [{ case: 'copy', detail: 'a link to a copy of the linked file' }];
  return [{ detail: `${before.kind} to ${after.kind}` }];
});

/** Links count: what they lead to is a program or is not one, and that may change later. */
export const programInPath = atEntry(({ kind, mode }, { path }, { input: { pathFolders = [] } }) => {
  const isProgram = kind === 'symlink' || (kind === 'file' && (mode & EXECUTE_BITS) !== 0);
  return isProgram && pathFolders.includes(parentPath(path)) ? [{}] : [];
});

/** Whether the entry has one of these mode bits and did not have it before. */
const gainsBits = ({ before }: Change, after: Entry, bits: number): boolean =>
  (after.mode & bits & ~(before?.mode ?? 0)) !== 0;

const modeOf = (after: Entry): string => (after.mode & 0o7777).toString(8);

export const setIdBits = atEntry((after, change, scene) => {
  // The kernel gives the bit to every folder that is made in a folder with it, and an apply takes it from there alone.
  const isInherited = after.kind === 'dir' && scene.hasSetgid(parentPath(change.path));
  return gainsBits(change, after, isInherited ? SET_ID_BITS & ~SETGID : SET_ID_BITS) ? [{ detail: modeOf(after) }] : [];
});

export const writableByOthers = atEntry((after, change) => {
  const isShared = after.kind !== 'symlink' && gainsBits(change, after, WRITE_BY_OTHERS);
  return isShared ? [{ case: change.before && 'opened', detail: modeOf(after) }] : [];
});

export const missingContent = atFile((after, { before }, scene) => {
  if (scene.bytes(after) === 'unreadable') return [{ case: 'after' }];
  return before?.digest !== undefined && scene.bytes(before) === 'unreadable' ? [{ case: 'before' }] : [];
});

const becomesExecutable = (after: Entry, { before }: Change): boolean =>
  (after.mode & EXECUTE_BITS) !== 0 && ((before?.mode ?? 0) & EXECUTE_BITS) === 0;

const isScript = (after: Entry, scene: Scene): boolean => {
  const bytes = scene.bytes(after);
  return Buffer.isBuffer(bytes) && bytes.subarray(0, 2).toString('latin1') === '#!';
};

export const executeBit = atFile((after, change, scene) => {
  if (!becomesExecutable(after, change)) return [];
  if (isScript(after, scene)) return [{ detail: 'a script' }];
  return change.before === undefined ? [{}] : [];
});

export const oddExecuteBit = atFile((after, change, scene) =>
  change.before !== undefined && becomesExecutable(after, change) && !isScript(after, scene) ? [{}] : [],
);

export const hardLink = atFile(({ linkGroup }, change, scene) => {
  if (linkGroup === undefined || (linkGroup === change.before?.linkGroup && change.kind !== 'created')) return [];
  const partner = scene.linkPartner(change);
  return [{ detail: partner === undefined ? 'another name outside the changes' : `same file as ${partner}` }];
});

export const largeFile = atFile(({ size }) => {
  const megabytes = Math.round(size / (1 << 20));
  const detail = `${megabytes} MB, of which only the beginning and the end were read`;
  return size >= LARGE_FILE_BYTES ? [{ detail }] : [];
});

export const sparseFile = atFile(({ size, allocated }) => {
  const isSparse = allocated !== undefined && size > SPARSE_FILE_BYTES && allocated * SPARSE_RATIO < size;
  return isSparse ? [{ detail: `${allocated} of ${size} bytes allocated` }] : [];
});

/** A time after the session by more than a day, or within a day of 1970. */
export const oddTime = atFile(({ mtimeNs }, _, { input: { endedNs } }) => {
  if (endedNs === undefined) return [];
  const time = BigInt(mtimeNs);
  return time > BigInt(endedNs) + DAY_NS || time < DAY_NS ? [{}] : [];
});

/** Whether a file with the same content replaced a link to it: whoever reads the path reads the same. */
function isCopyOfTarget({ input: { base }, bytes }: Scene, { path, before, after }: Change): boolean {
  if (base === undefined || before?.kind !== 'symlink' || before.target === undefined) return false;
  const linked = resolveInBase(base.linkTarget, path, before.target);
  const old = linked === undefined ? undefined : base.read(linked);
  const now = bytes(after);
  return old !== undefined && Buffer.isBuffer(now) && old.equals(now);
}

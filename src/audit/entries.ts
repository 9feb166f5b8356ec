import { parentPath } from '../core/text/path.ts';
import type { Change, Entry } from '../core/types/entry.ts';
import { type Hit, hitOf } from './hit.ts';
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

/** What the kind, mode, size and times of a changed entry give away. */
export function entryHits(scene: Scene, change: Change): Hit[] {
  const { after } = change;
  if (after === undefined) return [];
  const hits = [
    ...kindHits(scene, change, after),
    ...modeHits(scene, change, after),
    ...pathHits(scene, change, after),
  ];
  if (after.kind !== 'file') return hits;
  return [
    ...hits,
    ...missingContentHits(scene, change, after),
    ...executeHits(scene, change, after),
    ...hardLinkHits(scene, change),
    ...sizeHits(change, after),
    ...timeHits(scene, change, after),
  ];
}

function kindHits(scene: Scene, change: Change, after: Entry): Hit[] {
  const { path, before } = change;
  const special = SPECIAL_KINDS[after.kind];
  const hits = special === undefined ? [] : [hitOf('special-file', path, { detail: special })];
  if (before === undefined || before.kind === after.kind) return hits;
  if (isCopyOfTarget(scene, change))
    return [...hits, hitOf('type-change', path, { case: 'copy', detail: 'a link to a copy of the linked file' })];
  return [...hits, hitOf('type-change', path, { detail: `${before.kind} to ${after.kind}` })];
}

/** Links count: what they lead to is a program or is not one, and that may change later. */
function pathHits({ input: { pathFolders = [] } }: Scene, { path }: Change, { kind, mode }: Entry): Hit[] {
  const isProgram = kind === 'symlink' || (kind === 'file' && (mode & EXECUTE_BITS) !== 0);
  return isProgram && pathFolders.includes(parentPath(path)) ? [hitOf('path-program', path)] : [];
}

/** Whether the entry has one of these mode bits and did not have it before. */
const gainsBits = ({ before }: Change, after: Entry, bits: number): boolean =>
  (after.mode & bits & ~(before?.mode ?? 0)) !== 0;

function modeHits(scene: Scene, change: Change, after: Entry): Hit[] {
  const detail = (after.mode & 0o7777).toString(8);
  // The kernel gives the bit to every folder that is made in a folder with it, and an apply takes it from there alone.
  const isInherited = after.kind === 'dir' && scene.hasSetgid(parentPath(change.path));
  const setIdBits = isInherited ? SET_ID_BITS & ~SETGID : SET_ID_BITS;
  const isShared = after.kind !== 'symlink' && gainsBits(change, after, WRITE_BY_OTHERS);
  return [
    ...(gainsBits(change, after, setIdBits) ? [hitOf('setuid', change.path, { detail })] : []),
    ...(isShared ? [hitOf('world-writable', change.path, { case: change.before && 'opened', detail })] : []),
  ];
}

function missingContentHits(scene: Scene, { path, before }: Change, after: Entry): Hit[] {
  if (scene.bytes(after) === 'unreadable') return [hitOf('unreadable', path, { case: 'after' })];
  const hadContent = before?.digest !== undefined;
  return hadContent && scene.bytes(before) === 'unreadable' ? [hitOf('unreadable', path, { case: 'before' })] : [];
}

function executeHits(scene: Scene, { path, before }: Change, after: Entry): Hit[] {
  if ((after.mode & EXECUTE_BITS) === 0 || ((before?.mode ?? 0) & EXECUTE_BITS) !== 0) return [];
  const bytes = scene.bytes(after);
  const isScript = Buffer.isBuffer(bytes) && bytes.subarray(0, 2).toString('latin1') === '#!';
  if (isScript) return [hitOf('execute-bit', path, { detail: 'a script' })];
  return [before === undefined ? hitOf('execute-bit', path) : hitOf('execute-bit-odd', path)];
}

function hardLinkHits(scene: Scene, change: Change): Hit[] {
  const group = change.after?.linkGroup;
  if (group === undefined || (group === change.before?.linkGroup && change.kind !== 'created')) return [];
  const partner = scene.linkPartner(change);
  const detail = partner === undefined ? 'another name outside the changes' : `same file as ${partner}`;
  return [hitOf('hard-link', change.path, { detail })];
}

function sizeHits({ path }: Change, { size, allocated }: Entry): Hit[] {
  const megabytes = Math.round(size / (1 << 20));
  const isSparse = allocated !== undefined && size > SPARSE_FILE_BYTES && allocated * SPARSE_RATIO < size;
  return [
    ...(size >= LARGE_FILE_BYTES
      ? [hitOf('large-file', path, { detail: `${megabytes} MB, of which only the beginning and the end were read` })]
      : []),
    ...(isSparse ? [hitOf('sparse-file', path, { detail: `${allocated} of ${size} bytes allocated` })] : []),
  ];
}

/** A time after the session by more than a day, or within a day of 1970. */
function timeHits({ input: { endedNs } }: Scene, { path }: Change, { mtimeNs }: Entry): Hit[] {
  if (endedNs === undefined) return [];
  const time = BigInt(mtimeNs);
  return time > BigInt(endedNs) + DAY_NS || time < DAY_NS ? [hitOf('odd-time', path)] : [];
}

/** Whether a file with the same content replaced a link to it: whoever reads the path reads the same. */
function isCopyOfTarget({ input: { base }, bytes }: Scene, { path, before, after }: Change): boolean {
  if (base === undefined || before?.kind !== 'symlink' || before.target === undefined) return false;
  const linked = resolveInBase(base.linkTarget, path, before.target);
  const old = linked === undefined ? undefined : base.read(linked);
  const now = bytes(after);
  return old !== undefined && Buffer.isBuffer(now) && old.equals(now);
}

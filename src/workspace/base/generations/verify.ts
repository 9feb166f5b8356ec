import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openProgress } from '../../../core/progress/open-progress.ts';
import { EVERYTHING } from '../../../core/text/selection.ts';
import type { Tell } from '../../../core/types/event.ts';
import { readAsWalked } from '../../scan/git/git-files.ts';
import { countRows, type Row, readRows, sameRow } from '../../scan/packed-directory.ts';
import { rowAt, type Snapshot } from '../../scan/snapshot.ts';
import { fsPath, type WalkedTree, walkTree } from '../../scan/walk.ts';
import type { Loaded } from './manifest.ts';

export interface VerifyOptions {
  readonly tell: Tell;
  readonly signal?: AbortSignal | undefined;
}

/** How long one piece of the comparison may keep other work on this thread waiting. */
const TURN_MS = 40;
const PIECE_BYTES = 1 << 20;

/**
 * Whether a base tree is still what was copied: exactly the same names, modes, times and sizes, and, where the project
 * is unchanged, the same content byte for byte. What changed in the project is copied anew anyway. Throws the
 * signal's reason.
 */
export async function isIntact(
  tree: string,
  { header, snapshot }: Loaded,
  walked: WalkedTree,
  { tell, signal }: VerifyOptions,
): Promise<boolean> {
  using progress = openProgress(tell, 'Comparing the private copy');
  const quietly = signal === undefined ? {} : { signal };
  const found = await walkTree({ root: tree, selection: EVERYTHING, plain: true, ...quietly });
  // Directories of the project that cannot be listed have no entries here either.
  if (!found.leftOut.every((one) => isEmptyDirectory(snapshot, one.path))) return false;
  const unreadable = new Set(header.unreadable.map((one) => one.path));
  let total = 0;
  for (const section of snapshot.values()) total += countRows(section);
  let [done, turn] = [0, Date.now()];
  const rest = async (): Promise<void> => {
    if (Date.now() - turn < TURN_MS) return;
    progress.count({ done, total, unit: 'files' });
    await nextTurn();
    signal?.throwIfAborted();
    turn = Date.now();
  };
  const same = async (): Promise<boolean> => {
    for (const [dir, section] of snapshot) {
      const prefix = dir === '' ? '' : `${dir}/`;
      const [rows, here] = [readRows(section), readRows(found.snapshot.get(dir))];
      const now = readRows(walked.snapshot.get(dir));
      for (const name of here.keys()) if (!rows.has(name) || unreadable.has(prefix + name)) return false;
      for (const [name, row] of rows) {
        const where = prefix + name;
        done += 1;
        if (unreadable.has(where)) continue;
        const [copy, source] = [here.get(name), now.get(name)];
        if (copy === undefined || !alike(copy, row)) return false;
        const unchanged = source !== undefined && sameRow(source, row);
        if (unchanged && !(await sameContent(row, tree, where, walked, rest))) return false;
        await rest();
      }
    }
    return true;
  };
  return await same();
}

function isEmptyDirectory(snapshot: Snapshot, where: string): boolean {
  const section = snapshot.get(where);
  return rowAt(snapshot, where)?.kind === 'd' && section !== undefined && countRows(section) === 0;
}

function alike(copy: Row, row: Row): boolean {
  const kind = row.kind === 'm' || row.kind === 'g' ? 'f' : row.kind;
  if (copy.kind !== kind || (kind !== 'l' && copy.mode !== row.mode)) return false;
  if (Math.abs(copy.mtimeMs - row.mtimeMs) > 1) return false;
  return row.kind === 'f' ? copy.size === row.size : row.kind !== 'm' || copy.size === 0;
}

/** True also where the source changed since the walk, or no longer exists: its copy is made anew anyway. */
async function sameContent(
  row: Row,
  tree: string,
  where: string,
  walked: WalkedTree,
  rest: () => Promise<void>,
): Promise<boolean> {
  if (row.kind === 'd' || row.kind === 'm') return true;
  const [copy, source] = [fsPath(`${tree}/${where}`), fsPath(walked.sourceOf(where))];
  const compared =
    row.kind === 'g'
      ? compareRewritten(row, copy, source, (bytes) => walked.rewrite(where, bytes).bytes)
      : compareContent(row, copy, source, rest);
  const same = await compared.catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error;
    return false;
  });
  return same || lstatSync(source, { throwIfNoEntry: false })?.ctimeMs !== row.ctimeMs;
}

async function compareRewritten(
  row: Row,
  copy: string | Buffer,
  source: string | Buffer,
  rewrite: (bytes: Buffer) => Buffer,
): Promise<boolean> {
  return rewrite(readAsWalked(source, row)).equals(readFileSync(copy));
}

async function compareContent(
  { kind }: Row,
  copy: string | Buffer,
  source: string | Buffer,
  rest: () => Promise<void>,
): Promise<boolean> {
  if (kind === 'l') {
    const target = { encoding: 'buffer' } as const;
    return readlinkSync(copy, target).equals(readlinkSync(source, target));
  }
  const files: number[] = [];
  try {
    for (const one of [copy, source]) files.push(openRegular(one));
    const [a, b] = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
    for (let at = 0; ; at += PIECE_BYTES) {
      const length = fill(files[0] as number, a, at);
      if (fill(files[1] as number, b, at) !== length || a.compare(b, 0, length, 0, length) !== 0) return false;
      if (length < PIECE_BYTES) return true;
      await rest();
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

function openRegular(file: string | Buffer): number {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw Object.assign(new Error('not a file'), { syscall: 'open' });
}

/** How much of the piece there was. */
function fill(file: number, piece: Buffer, at: number): number {
  let length = 0;
  while (length < piece.length) {
    const count = readSync(file, piece, length, piece.length - length, at + length);
    if (count === 0) break;
    length += count;
  }
  return length;
}

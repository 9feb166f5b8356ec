import * as fs from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { processIdentity } from '../../../core/host/processes/process.ts';
import { withLock } from '../../../core/store/lock.ts';
import { nameOfPath, parentPath } from '../../../core/text/path.ts';
import { type Row, readRows } from '../../scan/packed-directory.ts';
import { fsPath } from '../../scan/walk.ts';
import { newestReadable } from '../base.ts';
import { genDir } from './generation.ts';
import { addRef } from './generation-refs.ts';
import { type Loaded, loadManifest, syncedState } from './manifest.ts';
import { treesOf } from './stacked.ts';

/** How long another start that changes the base is waited for. */
const LOCK_WAIT_MS = 500;

/**
 * Refers a session to the newest generation of a base as it is: nothing is brought up to date. Returns its number;
 * undefined where there is none, or where another start is changing the base.
 */
export async function referToNewest(
  dir: string,
  session: { readonly sessionId: string; readonly sessionDir: string },
): Promise<number | undefined> {
  if (!fs.existsSync(path.join(dir, 'gen'))) return undefined;
  const lock = { what: 'reading the private copy', waitMs: LOCK_WAIT_MS };
  try {
    return await withLock(path.join(dir, 'lock'), lock, async () => {
      const generation = newestReadable(dir);
      if (generation !== undefined) {
        addRef(dir, session.sessionId, { generation, sessionDir: session.sessionDir });
      }
      return generation;
    });
  } catch (error) {
    // A session that does not start from the base can start without it.
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}

/** A file of the project as lstat showed it at some moment. */
export interface FileState {
  readonly size: number;
  readonly mtimeNs: string;
  /** Set by the kernel: a file with the same inode and change time has the same content. */
  readonly ctimeNs: string;
  readonly ino: string;
}

/** Files of the project as a generation has them. */
export interface GenerationFiles {
  /** Whether the generation has the content that the file had in this state. */
  has(entry: string, state: FileState): boolean;
  /** The content that the file had in this state; undefined where the generation does not have it. */
  read(entry: string, state: FileState): Buffer | undefined;
}

/** The files of a generation; undefined where it cannot be used as it is. */
export function openGenerationFiles(dir: string, generation: number): GenerationFiles | undefined {
  const gen = genDir(dir, generation);
  if (!fs.existsSync(path.join(gen, 'manifest')) || fs.existsSync(path.join(gen, 'journal'))) return undefined;
  const loaded = loadManifest(gen, () => undefined);
  if (loaded === undefined || !isOnDisk(gen, loaded)) return undefined;
  const trees = treesOf(gen);
  const rows = rowReader(loaded);
  const has = (entry: string, state: FileState): boolean => {
    const row = rows(entry);
    return row !== undefined && isState(row, state);
  };
  return {
    has,
    read: (entry, state) => (has(entry, state) ? readFrom(trees, entry, state.size) : undefined),
  };
}

/** What was never forced to the disk may be lost after a boot. */
function isOnDisk(gen: string, { header }: Loaded): boolean {
  return header.bootId === processIdentity().bootId || syncedState(gen) === header.state;
}

/** Rows by path. Each directory is unpacked once for the files that are asked for one after the other. */
function rowReader({ header, snapshot }: Loaded): (entry: string) => Row | undefined {
  const unreadable = new Set(header.unreadable.map((one) => one.path as string));
  let last: { readonly dir: string; readonly rows: ReadonlyMap<string, Row> } | undefined;
  return (entry) => {
    const dir = parentPath(entry);
    if (last?.dir !== dir) last = { dir, rows: readRows(snapshot.get(dir)) };
    const row = last.rows.get(nameOfPath(entry));
    // Masked files and git's configuration have other content in a base.
    return row?.kind === 'f' && !unreadable.has(entry) ? row : undefined;
  };
}

/** A row has milliseconds with a fraction, which a number holds to a quarter of a microsecond. */
const PRECISION_MS = 0.001;

function isState(row: Row, { size, mtimeNs, ctimeNs, ino }: FileState): boolean {
  const isTime = (ms: number, ns: string): boolean => Math.abs(Number(ns) / 1e6 - ms) < PRECISION_MS;
  return row.size === size && row.ino === Number(ino) && isTime(row.ctimeMs, ctimeNs) && isTime(row.mtimeMs, mtimeNs);
}

function readFrom(trees: readonly string[], entry: string, size: number): Buffer | undefined {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;
  for (const tree of trees) {
    try {
      const fd = fs.openSync(fsPath(`${tree}/${entry}`), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        const stat = fs.fstatSync(fd);
        return stat.isFile() && stat.size === size ? fs.readFileSync(fd) : undefined;
      } finally {
        fs.closeSync(fd);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return undefined;
    }
  }
  return undefined;
}

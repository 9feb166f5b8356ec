import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Selection } from '../../core/text/selection.ts';
import type { Graft } from '../scan/list-directories.ts';
import { type WalkedTree, walkTree } from '../scan/walk.ts';
import { genDir, maxEntryBytes, newestGeneration } from './generation.ts';
import { type Loaded, loadManifest } from './manifest.ts';

export interface PrescanOptions {
  /** As in BaseOptions. */
  readonly dir: string;
  readonly project: string;
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly selection: Selection;
  readonly signal: AbortSignal;
  /** Takes what was walked before a start does. */
  readonly onWalked?: (walked: WalkedTree) => void;
}

/** The project and the manifest of its newest generation, as they were a moment ago. */
export interface Prescan {
  readonly generation: number | undefined;
  readonly loaded: Loaded | undefined;
  readonly walked: WalkedTree;
  /** When the walk ended, in milliseconds since the epoch. */
  readonly ended: number;
}

/** Gives the prescan once: it is large, and must not be kept. */
export type TakePrescan = () => Promise<Prescan | undefined> | undefined;

/**
 * Walks the project while the engine is still being asked for other things. Takes no lock and writes nothing: the caller
 * checks whether the result still holds. Never fails: an error comes again later, where it can be reported.
 */
export function beginPrescan(options: PrescanOptions): TakePrescan {
  let looking: ReturnType<TakePrescan> = prescan(options);
  return () => {
    const given = looking;
    looking = undefined;
    return given;
  };
}

async function prescan(options: PrescanOptions): Promise<Prescan | undefined> {
  const { dir, project: root, grafts, selection, signal } = options;
  try {
    const generation = existsSync(path.join(dir, 'gen')) ? newestGeneration(dir) : undefined;
    const loaded = generation === undefined ? undefined : loadManifest(genDir(dir, generation), () => undefined);
    const maxPathBytes = maxEntryBytes(dir);
    const walked = await walkTree({ root, grafts, selection, known: loaded?.snapshot, maxPathBytes, signal });
    options.onWalked?.(walked);
    return { generation, loaded, walked, ended: Date.now() };
  } catch {
    return undefined;
  }
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Selection } from '../../core/text/selection.ts';
import type { Graft } from '../scan/list-directories.ts';
import type { GitPaths } from '../scan/project-ignores.ts';
import { walkTree } from '../scan/walk.ts';
import { type MaskedTree, maskSecrets } from '../secrets/mask-secrets.ts';
import { genDir, maxEntryBytes, newestGeneration } from './generations/generation.ts';
import { knownSecrets, type Loaded, loadManifest } from './generations/manifest.ts';

export interface PrescanOptions {
  /** As in BaseOptions. */
  readonly dir: string;
  readonly project: string;
  readonly grafts: ReadonlyMap<string, readonly Graft[]>;
  readonly selection: Selection;
  /** As in BaseOptions. */
  readonly unmask?: readonly string[];
  readonly git?: GitPaths;
  readonly signal: AbortSignal;
  /** Takes what was walked before a start does; undefined where the walk failed. Called once. */
  readonly onWalked?: (walked: MaskedTree | undefined) => void;
}

/** The project and the manifest of its newest generation, as they were a moment ago. */
export interface Prescan {
  readonly generation: number | undefined;
  readonly loaded: Loaded | undefined;
  readonly walked: MaskedTree;
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
  const { dir, project: root, grafts, selection, unmask = [], git, signal } = options;
  try {
    const generation = existsSync(path.join(dir, 'gen')) ? newestGeneration(dir) : undefined;
    const loaded = generation === undefined ? undefined : loadManifest(genDir(dir, generation), () => undefined);
    const maxPathBytes = maxEntryBytes(dir);
    const plain = await walkTree({ root, grafts, selection, known: loaded?.snapshot, maxPathBytes, signal });
    const walked = maskSecrets(plain, { project: root, dir, unmask, git }, loaded && knownSecrets(loaded));
    options.onWalked?.(walked);
    return { generation, loaded, walked, ended: Date.now() };
  } catch {
    options.onWalked?.(undefined);
    return undefined;
  }
}

import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readFileSync, rmdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { writeNonce } from '../base/generation.ts';
import { stackedOn, treesOf } from '../base/stacked.ts';
import type { Collector } from '../collector/client.ts';
import type { ReaderRoot } from '../collector/container.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { removeTreeSync } from '../host/remove-tree.ts';
import { settableTimeOfMs } from '../store/file-time.ts';
import { makePrivateDir } from '../store/record.ts';
import type { ListedEntry } from '../types/collector.ts';
import type { Engine } from '../types/engine.ts';
import type { Delta, Layer, LayerView } from './layer.ts';
import { createOverlay, type OverlayVolume } from './overlay-volume.ts';
import { dropShortLinks, makeShortLinks } from './short-links.ts';

export interface LayerPlace {
  readonly engine: Engine;
  readonly sessionId: string;
  /** Of the session, for the layer: `upper`, `work`, `nonce`. */
  readonly dir: string;
  /** Generation of the base: `tree`, `nonce`; and `over`, where it is stacked on another. */
  readonly generation: string;
  readonly target: string;
  readonly image: string;
  /** What lies below, when that is not the generation's tree: the project itself. */
  readonly lower?: string;
}

/**
 * An overlay volume that the engine mounts: the base below, directories of ours above. Paths reach the engine only as
 * short links in a directory of ours under /tmp: `o=` is one string in which commas, colons and backslashes have
 * meanings, and what stands in it can be read inside the container.
 */
export async function openLayers(place: LayerPlace): Promise<Layer> {
  const { engine, dir, generation, sessionId } = place;
  const upper = path.join(dir, 'upper');
  const work = path.join(dir, 'work');
  const trees = place.lower === undefined ? treesOf(generation) : [place.lower];
  makePrivateDir(dir);
  if (!existsSync(upper)) makeUpper(upper, trees[0] as string);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  if (readNonce(dir) === undefined) writeNonce(dir);
  const volume = `run-claude-${sessionId}-workspace`;
  const base = trees.length > 1 ? baseVolume(sessionId) : undefined;
  const { lowers, above } = linkOverlay(dir, trees);
  await createOverlay(engine, { name: volume, sessionId, lowers, above });
  if (base !== undefined) await createOverlay(engine, { name: base, sessionId, lowers });
  return {
    ...viewLayers(sessionId, dir, generation),
    strategy: 'layers',
    mounts: [{ kind: 'volume', volume, target: place.target, readonly: false }],
    async close(keep) {
      if (base !== undefined) await engine.removeVolume(base);
      await closeOverlay(place, volume);
      if (!keep) removeLayerDir(dir);
    },
  };
}

/** An overlay over `trees`, with the directories `upper` and `work` in `dir`, as the engine is told of it. */
export function linkOverlay(dir: string, trees: readonly string[]): Required<Pick<OverlayVolume, 'lowers' | 'above'>> {
  const below = trees.map((tree, i) => [`b${i}`, tree] as const);
  const targets = { ...Object.fromEntries(below), u: path.join(dir, 'upper'), w: path.join(dir, 'work') };
  const links = makeShortLinks(dir, targets);
  return {
    lowers: below.map(([name]) => `${links}/${name}`),
    above: { upper: `${links}/u`, work: `${links}/w` },
  };
}

/** Removes an overlay volume over `dir`, and what the kernel left of its mounts there. Nothing may stand on it. */
export async function closeOverlay(place: Omit<LayerPlace, 'generation'>, volume: string): Promise<void> {
  const work = path.join(place.dir, 'work');
  const emptied = emptyWork(work);
  if (!emptied) await mountOnce(place, volume);
  await place.engine.removeVolume(volume);
  dropShortLinks(place.dir);
  if (!emptied) emptyWork(work);
}

/** What a session stands on, as one tree for its reader, where that is two. */
function baseVolume(sessionId: string): string {
  return `run-claude-${sessionId}-base`;
}

/** Both sides in directories of ours; a base that is two of them is joined by the kernel for the reader too. */
export function viewLayers(sessionId: string, dir: string, generation: string): LayerView {
  const view = viewDirectories(dir, generation);
  if (stackedOn(generation) === undefined) return view;
  const mount: ReaderRoot['mount'] = { kind: 'volume', volume: baseVolume(sessionId), target: '', readonly: true };
  return { ...view, roots: [...view.roots, { name: 'base', mount }], places: { upper: 'layer/upper' } };
}

/** Each side is one directory of ours. */
export function viewDirectories(dir: string, generation: string): LayerView {
  return {
    roots: [
      { name: 'layer', mount: { kind: 'bind', source: dir, target: '', readonly: true } },
      { name: 'generation', mount: { kind: 'bind', source: generation, target: '', readonly: true } },
    ],
    places: { upper: 'layer/upper', base: 'generation/tree' },
    nonces: { layer: readNonce(dir) ?? '', generation: readNonce(generation) ?? '' },
    delta: overlayDelta,
  };
}

/**
 * Removes a layer that is not mounted. False where what the kernel left of a mount that nobody closed is root's (see
 * emptyWork) and stays: {@link emptyByMount} takes it away.
 */
export function removeLayerDir(dir: string): boolean {
  dropShortLinks(dir);
  const emptied = emptyWork(path.join(dir, 'work'));
  if (emptied) removeTreeSync(dir);
  else removeTreeSync(path.join(dir, 'upper'));
  return emptied;
}

/** Takes away what a mount that nobody closed left in the layer's work directory: one more mount, over nothing, does it. */
export async function emptyByMount(place: Omit<LayerPlace, 'generation'>): Promise<void> {
  const { engine, sessionId, dir } = place;
  for (const name of ['upper', 'nothing']) makePrivateDir(path.join(dir, name));
  const volume = `run-claude-${sessionId}-left`;
  await createOverlay(engine, { name: volume, sessionId, ...linkOverlay(dir, [path.join(dir, 'nothing')]) });
  await closeOverlay(place, volume);
}

/**
 * The kernel leaves `work/work` behind as root's, mode 000, with a whiteout in it that it had ready (`#…`); the next
 * mount makes it anew. False where we may not remove it: it is root's, and not empty.
 */
function emptyWork(work: string): boolean {
  const inner = path.join(work, 'work');
  if (process.getuid?.() === 0) removeTreeSync(inner);
  try {
    if (existsSync(inner)) rmdirSync(inner);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    return false;
  }
}

/** A mount empties what the one before left in the work directory, with the engine's rights. */
async function mountOnce(
  { engine, sessionId, image, target }: Omit<LayerPlace, 'generation'>,
  volume: string,
): Promise<void> {
  const container = await engine.create(
    taskSpec({
      sessionId,
      suffix: 'unmount',
      image,
      seccomp: await readSeccompProfile(),
      user: '65534:65534',
      argv: ['/bin/true'],
      mounts: [{ kind: 'volume', volume, target, readonly: false }],
      stdin: 'none',
    }),
  );
  try {
    await container.start();
    await container.wait();
  } finally {
    await container.remove();
  }
}

/** The merged root shows the upper directory's owner, mode and time: the base's own. */
function makeUpper(upper: string, tree: string): void {
  const root = lstatSync(tree);
  mkdirSync(upper, { mode: 0o700 });
  if (process.getuid?.() === 0) chownSync(upper, root.uid, root.gid);
  chmodSync(upper, root.mode & 0o7777);
  utimesSync(upper, settableTimeOfMs(root.atimeMs), settableTimeOfMs(root.mtimeMs));
}

/** Of a directory of ours that a collector mounts. */
export function readNonce(dir: string): string | undefined {
  const file = path.join(dir, 'nonce');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Whiteouts and opaque directories as the kernel recorded them: nobody makes them through the merged view. */
export async function overlayDelta(collector: Collector): Promise<Delta> {
  const present: ListedEntry[] = [];
  const gone: string[] = [];
  const opaque: string[] = [];
  for await (const entry of collector.list('upper')) {
    if (entry.whiteout) gone.push(entry.path);
    else present.push(entry);
    if (entry.opaque && entry.problem === undefined) opaque.push(entry.path);
  }
  return { present, gone, opaque };
}

import { existsSync, lstatSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { HELPER_USER, taskSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import type { Collector } from '../collector/client.ts';
import type { Delta, LayerView } from './layer.ts';
import { createOverlay, type OverlayVolume } from './overlay-volume.ts';
import { WORKSPACE } from './places.ts';
import { dropShortLinks, makeShortLinks } from './short-links.ts';

// A layer's directory holds what an overlay needs above the base:
//   upper    what the session wrote     work    the kernel's own
//   nonce    proves to the collector that it reads this layer     links    see short-links.ts

/** A layer in a directory of this machine, and what it takes to mount it. */
export interface OverlayPlace {
  readonly engine: Runtime;
  readonly sessionId: string;
  readonly dir: string;
  readonly image: string;
}

/** The options of an overlay over `trees` whose directories `upper` and `work` are in `dir`, by paths that the engine can parse. */
export function linkOverlay(dir: string, trees: readonly string[]): Required<Pick<OverlayVolume, 'lowers' | 'above'>> {
  const below = trees.map((tree, i) => [`b${i}`, tree] as const);
  const targets = { ...Object.fromEntries(below), u: path.join(dir, 'upper'), w: path.join(dir, 'work') };
  const links = makeShortLinks(dir, targets);
  return {
    lowers: below.map(([name]) => `${links}/${name}`),
    above: { upper: `${links}/u`, work: `${links}/w` },
  };
}

/** Removes an overlay volume over `dir`, and what the kernel left of its mounts there. Precondition: no container mounts it. */
export async function closeOverlay(place: OverlayPlace, volume: string): Promise<void> {
  const work = path.join(place.dir, 'work');
  const emptied = emptyWork(work);
  if (!emptied) await mountOnce(place, volume);
  await place.engine.removeVolume(volume);
  dropShortLinks(place.dir);
  if (!emptied) emptyWork(work);
}

/** A layer and a base that are one directory of this machine each. */
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
 * Removes a layer that is not mounted. False where the kernel left files of root's in it (see emptyWork), after a mount
 * that no command closed: {@link emptyByMount} removes them.
 */
export function removeLayerDir(dir: string): boolean {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    // A link is not run-claude's own, and what it leads to is left alone.
    rmSync(dir, { force: true });
    return true;
  }
  dropShortLinks(dir);
  const emptied = emptyWork(path.join(dir, 'work'));
  if (emptied) removeTreeSync(dir);
  else removeTreeSync(path.join(dir, 'upper'));
  return emptied;
}

/** Removes what a mount that no command closed left in the layer's work directory, by one more mount, over an empty tree. */
export async function emptyByMount(place: OverlayPlace): Promise<void> {
  const { engine, sessionId, dir } = place;
  for (const name of ['upper', 'nothing']) makePrivateDir(path.join(dir, name));
  const volume = `run-claude-${sessionId}-left`;
  await createOverlay(engine, { name: volume, sessionId, ...linkOverlay(dir, [path.join(dir, 'nothing')]) });
  await closeOverlay(place, volume);
}

/**
 * Removes `work/work`, which the kernel leaves behind with root as its owner, mode 000, and with a whiteout in it that it
 * had ready (`#…`). False where this process may not: it is root's and not empty.
 */
function emptyWork(work: string): boolean {
  const inner = path.join(work, 'work');
  if (process.getuid?.() === 0) rmSync(inner, { recursive: true, force: true });
  try {
    if (existsSync(inner)) rmdirSync(inner);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    return false;
  }
}

/** Mounts the volume once: a mount empties what an earlier one left in the work directory, with the engine's rights. */
async function mountOnce({ engine, sessionId, image }: Omit<OverlayPlace, 'dir'>, volume: string): Promise<void> {
  const container = await engine.create(
    taskSpec({
      sessionId,
      suffix: 'unmount',
      image,
      seccomp: await readSeccompProfile(),
      user: HELPER_USER,
      argv: ['/bin/true'],
      mounts: [{ kind: 'volume', volume, target: WORKSPACE, readonly: false }],
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

/** The nonce of a directory that a collector mounts. */
export function readNonce(dir: string): string | undefined {
  const file = path.join(dir, 'nonce');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** What the upper directory holds. Whiteouts and opaque directories are the kernel's: no program makes them through the merged view. */
export async function overlayDelta(collector: Collector): Promise<Delta> {
  const present: ListedEntry[] = [];
  const deleted: string[] = [];
  const opaque: string[] = [];
  for await (const entry of collector.list('upper')) {
    if (entry.whiteout) deleted.push(entry.path);
    else present.push(entry);
    if (entry.opaque && entry.problem === undefined) opaque.push(entry.path);
  }
  return { present, deleted, opaque };
}

import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { settableTimeOfMs } from '../../core/store/file-time.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import type { Mount } from '../../core/types/engine.ts';
import { writeNonce } from '../base/generations/generation.ts';
import { stackedOn, treesOf } from '../base/generations/stacked.ts';
import type { ReaderRoot } from '../collector/container.ts';
import type { Layer, LayerView, ScratchLayer, ScratchOver } from './layer.ts';
import { madeBySetup } from './made-by-setup.ts';
import {
  closeOverlay,
  linkOverlay,
  type OverlayPlace,
  readNonce,
  removeLayerDir,
  viewDirectories,
} from './overlay-layer.ts';
import { createOverlay, overlayOptions } from './overlay-volume.ts';
import { layerDir, scratchDir, scratchVolumes, WORKSPACE, workspaceVolume } from './places.ts';
import type { WorkspaceStrategy } from './strategy.ts';

/** An overlay volume that the engine mounts over directories of this machine. */
export const layersStrategy: WorkspaceStrategy = {
  async open({ plan, engine }, { generation }) {
    const { sessionId, sessionDir, ownImage: image = plan.image } = plan;
    const made = await madeBySetup(engine, plan);
    return openLayers({ engine, sessionId, image, dir: layerDir(sessionDir), made }, generation);
  },
  view: ({ sessionId, sessionDir }, { generation }) => viewLayers(sessionId, layerDir(sessionDir), generation),
  async openScratch({ plan, engine }, { generation }, over) {
    const { sessionId, sessionDir, ownImage: image = plan.image } = plan;
    const session = over === 'session' ? [path.join(layerDir(sessionDir), 'upper')] : [];
    const trees = [...session, ...treesOf(generation), ...(await madeBySetup(engine, plan))];
    return openScratch({ engine, sessionId, image, dir: scratchDir(sessionDir, over) }, trees, over);
  },
  layerVolumes: () => [],
  planned({ sessionId, sessionDir, baseDir }) {
    const layer = layerDir(sessionDir);
    return {
      mount: { kind: 'volume', volume: workspaceVolume(sessionId), target: WORKSPACE, readonly: false },
      volume: {
        remark: 'N: the newest generation of the base, once it is brought up to date',
        options: overlayOptions([`${baseDir}/gen/N/tree`], { upper: `${layer}/upper`, work: `${layer}/work` }),
      },
    };
  },
};

/**
 * The layer in `dir` over a base generation. Paths reach the engine only as short links in a private directory under
 * /tmp: `o=` is one string in which commas, colons and backslashes have meanings, and which can be read inside the
 * container. `made`: trees below the base, which hold what a setup made.
 */
export async function openLayers(
  place: OverlayPlace & { readonly made?: readonly string[] },
  generation: string,
): Promise<Layer> {
  const { engine, dir, sessionId, made = [] } = place;
  const upper = path.join(dir, 'upper');
  const trees = treesOf(generation);
  makePrivateDir(dir);
  if (!existsSync(upper)) makeUpper(upper, trees[0] as string);
  mkdirSync(path.join(dir, 'work'), { recursive: true, mode: 0o700 });
  if (readNonce(dir) === undefined) writeNonce(dir);
  const volume = workspaceVolume(sessionId);
  const base = trees.length > 1 ? baseVolume(sessionId) : undefined;
  const { lowers, above } = linkOverlay(dir, [...trees, ...made]);
  await createOverlay(engine, { name: volume, sessionId, lowers, above });
  if (base !== undefined) await createOverlay(engine, { name: base, sessionId, lowers: lowers.slice(0, trees.length) });
  const mount: Mount = { kind: 'volume', volume, target: WORKSPACE, readonly: false };
  return {
    ...viewLayers(sessionId, dir, generation),
    mounts: [mount],
    prunable: [mount],
    async close(keep) {
      if (base !== undefined) await engine.removeVolume(base);
      await closeOverlay(place, volume);
      if (!keep) removeLayerDir(dir);
    },
  };
}

/** A stacked base generation as one tree, for the collector. */
function baseVolume(sessionId: string): string {
  return `run-claude-${sessionId}-base`;
}

/** The kernel joins the two trees of a stacked base generation for the collector too. */
function viewLayers(sessionId: string, dir: string, generation: string): LayerView {
  const view = viewDirectories(dir, generation);
  if (stackedOn(generation) === undefined) return view;
  const mount: ReaderRoot['mount'] = { kind: 'volume', volume: baseVolume(sessionId), target: '', readonly: true };
  return { ...view, roots: [...view.roots, { name: 'base', mount }], places: { upper: 'layer/upper' } };
}

/** The merged root has the upper directory's owner, mode and time: they are copied from the base. */
function makeUpper(upper: string, tree: string): void {
  const root = lstatSync(tree);
  mkdirSync(upper, { mode: 0o700 });
  if (process.getuid?.() === 0) chownSync(upper, root.uid, root.gid);
  chmodSync(upper, root.mode & 0o7777);
  utimesSync(upper, settableTimeOfMs(root.atimeMs), settableTimeOfMs(root.mtimeMs));
}

/** An overlay over the session's upper directory and its base. */
async function openScratch(place: OverlayPlace, trees: readonly string[], over: ScratchOver): Promise<ScratchLayer> {
  const { engine, sessionId, dir } = place;
  const { merged: volume } = scratchVolumes(sessionId, over);
  // A command that was killed may have left one.
  await engine.removeVolume(volume);
  removeLayerDir(dir);
  for (const name of ['upper', 'work']) mkdirSync(path.join(dir, name), { recursive: true, mode: 0o700 });
  // The shell sees this directory as the root: it gets the owner and mode of the session's own.
  const { uid, gid, mode } = lstatSync(trees[0] as string);
  if (process.getuid?.() === 0) chownSync(path.join(dir, 'upper'), uid, gid);
  chmodSync(path.join(dir, 'upper'), mode & 0o7777);
  await createOverlay(engine, { name: volume, sessionId, ...linkOverlay(dir, trees) });
  return {
    mounts: [{ kind: 'volume', volume, target: WORKSPACE, readonly: false }],
    writable: true,
    async close() {
      await closeOverlay(place, volume);
      removeLayerDir(dir);
    },
  };
}

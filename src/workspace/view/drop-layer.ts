import { existsSync } from 'node:fs';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { removeContainers } from '../../engines/engine/containers/remove-containers.ts';
import { emptyByMount, removeLayerDir } from '../layer/overlay-layer.ts';
import { layerDir, SCRATCH_SIDES, scratchDir, scratchVolumes } from '../layer/places.ts';
import { dropShortLinks } from '../layer/short-links.ts';
import { layerVolumes } from '../layer/strategies.ts';
import { releaseBases } from './start-base.ts';

/** Whether a session's directory still holds a layer, what is kept on this machine of a layer in the engine, or a scratch layer. */
export function hasLayer(sessionDir: string): boolean {
  return layerDirs(sessionDir).some((dir) => existsSync(dir));
}

function layerDirs(sessionDir: string): string[] {
  return [layerDir(sessionDir), ...SCRATCH_SIDES.map((over) => scratchDir(sessionDir, over))];
}

/**
 * Removes a session's layer for good, and releases its base generation. Precondition: no container mounts the layer.
 * Without `engine`, a layer in the engine and what the kernel left as root's are left to the next gc.
 */
export async function dropLayer(plan: Plan, engine: Runtime | undefined): Promise<void> {
  const volumes = layerVolumes(plan.strategy, plan.sessionId);
  if (volumes.length > 0 && engine === undefined) return;
  for (const volume of volumes) await engine?.removeVolume(volume);
  const { sessionId, sessionDir, ownImage: image = plan.image } = plan;
  const isScratchLeft = SCRATCH_SIDES.some((over) => existsSync(scratchDir(sessionDir, over)));
  if (engine !== undefined && isScratchLeft) await dropScratchLayer(engine, sessionId);
  for (const dir of layerDirs(sessionDir)) {
    if (!existsSync(dir) || removeLayerDir(dir) || engine === undefined) continue;
    await emptyByMount({ engine, sessionId, dir, image });
    removeLayerDir(dir);
  }
  releaseBases(plan.baseDir, plan.sessionId);
}

/** Removes what a killed command left in the engine of a session's scratch layer. Precondition: nothing else runs on the session's layer. */
async function dropScratchLayer(engine: Runtime, sessionId: string): Promise<void> {
  await removeContainers(engine, sessionId);
  for (const over of SCRATCH_SIDES) {
    const { merged, own } = scratchVolumes(sessionId, over);
    await engine.removeVolume(merged);
    await engine.removeVolume(own);
  }
}

/** Removes the short links that a killed command left, by which the engine found a session's layer. Precondition: no volume names them. */
export function dropLinks(sessionDir: string): void {
  for (const dir of layerDirs(sessionDir)) dropShortLinks(dir);
}

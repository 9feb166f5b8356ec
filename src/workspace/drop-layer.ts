import { existsSync } from 'node:fs';
import { emptyByMount, removeLayerDir } from '../layer/layers.ts';
import { layerDir } from '../layer/open-layer.ts';
import { dropThrowAway, throwAwayDir } from '../layer/scratch-layer.ts';
import { dropShortLinks } from '../layer/short-links.ts';
import { layerVolume } from '../layer/volume.ts';
import type { Engine } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';
import { releaseBases } from './start-base.ts';

/** Whether a session's directory still holds a layer, what is kept here of one in the engine, or what was laid over it. */
export function hasLayer(sessionDir: string): boolean {
  return layerDirs(sessionDir).some((dir) => existsSync(dir));
}

function layerDirs(sessionDir: string): string[] {
  return [layerDir(sessionDir), throwAwayDir(sessionDir)];
}

/**
 * Removes a session's layer for good, and lets go of the base it stood on. Nothing may run on it any more. One that lies
 * in the engine is left to the next gc where no engine is given, and so is what the kernel left that is root's.
 */
export async function dropLayer(plan: Plan, engine: Engine | undefined): Promise<void> {
  if (plan.strategy === 'volume') {
    if (engine === undefined) return;
    await engine.removeVolume(layerVolume(plan.sessionId));
  }
  const { sessionId, sessionDir, image } = plan;
  if (engine !== undefined && existsSync(throwAwayDir(sessionDir))) await dropThrowAway(engine, sessionId);
  for (const dir of layerDirs(sessionDir)) {
    if (!existsSync(dir) || removeLayerDir(dir) || engine === undefined) continue;
    await emptyByMount({ engine, sessionId, dir, image, target: '/workspace' });
    removeLayerDir(dir);
  }
  releaseBases(plan.baseDir, plan.sessionId);
}

/** The short links by which the engine found a session's layer, of a command that was killed. Nothing may stand on it. */
export function dropLinks(sessionDir: string): void {
  for (const dir of layerDirs(sessionDir)) dropShortLinks(dir);
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Engine } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';
import { layerDir } from './open-layer.ts';
import { releaseBases } from './start-base.ts';
import { removeLayerDir } from './strategies/layers.ts';
import { dropShortLinks } from './strategies/short-links.ts';
import { layerVolume } from './strategies/volume.ts';

/** Whether a session's directory still holds a layer, or what is kept here of one in the engine. */
export function hasLayer(sessionDir: string): boolean {
  return existsSync(layerDir(sessionDir));
}

/**
 * Removes a session's layer for good, and lets go of the base it stood on. Nothing may run on it any more. One that lies
 * in the engine is left to the next gc where no engine is given.
 */
export async function dropLayer(plan: Plan, engine: Engine | undefined): Promise<void> {
  if (plan.strategy === 'volume') {
    if (engine === undefined) return;
    await engine.removeVolume(layerVolume(plan.sessionId));
  }
  const dir = layerDir(plan.sessionDir);
  if (existsSync(dir)) removeLayerDir(dir);
  releaseBases(plan.baseDir, plan.sessionId);
}

/** The short links by which the engine found a session's layer, of a command that was killed. Nothing may stand on it. */
export function dropLinks(sessionDir: string): void {
  for (const dir of [layerDir(sessionDir), path.join(sessionDir, 'explore')]) dropShortLinks(dir);
}

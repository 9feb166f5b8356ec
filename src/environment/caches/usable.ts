import { lstatSync } from 'node:fs';
import type { Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { MadeCache } from '../../core/types/setup/cache.ts';
import { markUsed, readMarker } from './marker.ts';
import { cacheMount } from './place.ts';

/** Whether a session can use it, and marks it as used. */
export async function isUsable(engine: Runtime, cache: MadeCache, plan: Plan): Promise<boolean> {
  if (readMarker(cache.dir) === undefined) return false;
  const mount = cacheMount(engine.facts, cache, plan);
  if (!(await exists(engine, mount))) return false;
  try {
    markUsed(cache.dir);
    return true;
  } catch {
    // Removed since: gc or `cache rm` ran.
    return false;
  }
}

/** Whether the engine has what the mount names: it would make an empty one. */
export async function exists(engine: Runtime, mount: Mount): Promise<boolean> {
  if (mount.kind === 'bind') return lstatSync(mount.source, { throwIfNoEntry: false })?.isDirectory() === true;
  return mount.kind === 'volume' && (await engine.findVolume(mount.volume)) !== undefined;
}

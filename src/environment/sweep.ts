import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../host/remove-tree.ts';
import type { MadeEnvironment } from '../types/environment.ts';
import { environmentsDir, markerOf } from './make-environment.ts';
import { environmentLabel } from './place.ts';

const DAY_MS = 86_400_000;
/** A setup may still run in a younger one. */
const RUNNING_MS = DAY_MS;

/** An environment that can be removed. */
export interface UnusedEnvironment {
  readonly dir: string;
  readonly why: string;
  readonly remove: () => Promise<void>;
}

/** Environments that none of these sessions uses, and that no start used for that long; or that were not finished. */
export function unusedEnvironments(
  cacheDir: string,
  used: readonly MadeEnvironment[],
  nowMs: number,
  keptMs: number,
): UnusedEnvironment[] {
  return environments(cacheDir).flatMap((address) => {
    if (used.some((one) => one.address === address)) return [];
    const dir = join(environmentsDir(cacheDir), address);
    const marker = statSync(markerOf(dir), { throwIfNoEntry: false });
    const ageMs = nowMs - (marker ?? statSync(dir)).mtimeMs;
    if (ageMs < (marker === undefined ? RUNNING_MS : keptMs)) return [];
    const why = marker === undefined ? 'its setup did not end' : `unused for ${Math.floor(ageMs / DAY_MS)} days`;
    return [{ dir, why, remove: () => removeTree(dir) }];
  });
}

/** Labels of the volumes of all environments on this machine. */
export function environmentLabels(cacheDir: string): string[] {
  return environments(cacheDir).map(environmentLabel);
}

function environments(cacheDir: string): string[] {
  const top = environmentsDir(cacheDir);
  return existsSync(top) ? readdirSync(top).filter((name) => /^[0-9a-f]{16}$/.test(name)) : [];
}

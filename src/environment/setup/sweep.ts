import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../core/host/files/remove-tree.ts';
import { withLock } from '../../core/store/lock.ts';
import type { MadeEnvironment } from '../../core/types/setup/environment.ts';
import { environmentsDir, lockOf, markerOf } from './make-environment.ts';
import { environmentLabel } from './place.ts';
import { isAddress } from './setup-files.ts';

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
    const why = whyUnused(dir, nowMs, keptMs);
    return why === undefined ? [] : [{ dir, why, remove: () => removeUnused(dir, keptMs) }];
  });
}

function whyUnused(dir: string, nowMs: number, keptMs: number): string | undefined {
  const marker = statSync(markerOf(dir), { throwIfNoEntry: false });
  const made = marker ?? statSync(dir, { throwIfNoEntry: false });
  if (made === undefined) return undefined;
  const ageMs = nowMs - made.mtimeMs;
  if (ageMs < (marker === undefined ? RUNNING_MS : keptMs)) return undefined;
  return marker === undefined ? 'its setup did not end' : `unused for ${Math.floor(ageMs / DAY_MS)} days`;
}

/** What a start used since it was listed stays. The marker is removed first: half an environment is not used. */
async function removeUnused(dir: string, keptMs: number): Promise<void> {
  await withLock(lockOf(dir), { what: 'removing an unused environment' }, async () => {
    if (whyUnused(dir, Date.now(), keptMs) === undefined) return;
    rmSync(markerOf(dir), { force: true });
    await removeTree(dir);
  });
}

/** Labels of the volumes of all environments on this machine. */
export function environmentLabels(cacheDir: string): string[] {
  return environments(cacheDir).map(environmentLabel);
}

function environments(cacheDir: string): string[] {
  const top = environmentsDir(cacheDir);
  return existsSync(top) ? readdirSync(top).filter(isAddress) : [];
}

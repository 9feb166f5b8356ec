import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { writeFileAtomic } from '../store/record.ts';
import { readHeader, syncedState } from './manifest.ts';

/**
 * Forces a generation to the disk, so that it outlives a reboot; without, it is made anew after one. In the background:
 * nobody waits for a busy disk, and a command that ends earlier leaves it to the next.
 */
export function settleBase(gen: string): void {
  const manifest = path.join(gen, 'manifest');
  if (!existsSync(manifest)) return;
  const state = readHeader(gen)?.state;
  if (state === undefined || syncedState(gen) === state) return;
  // No such program or option (macOS): the base is made anew after a reboot.
  const child = spawn('sync', ['-f', manifest], { stdio: 'ignore' }).on('error', () => undefined);
  child.on('exit', (status) => {
    try {
      if (status === 0) writeFileAtomic(path.join(gen, 'synced'), state);
    } catch {
      // The generation was removed meanwhile.
    }
  });
  child.unref();
}

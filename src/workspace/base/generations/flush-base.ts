import { existsSync } from 'node:fs';
import path from 'node:path';
import { spawn } from '../../../core/host/programs/start-program.ts';
import { writeFileAtomic } from '../../../core/store/record.ts';
import { readHeader, syncedState } from './manifest.ts';

/**
 * Forces a generation to the disk in the background, so that it survives a reboot; otherwise it is made anew after one.
 * No command waits for a busy disk: one that ends earlier leaves this to the next.
 */
export function flushBase(gen: string, platform: NodeJS.Platform = process.platform): void {
  // sync of macOS ignores its arguments, ends with 0 and does not wait; forcing each file out alone takes minutes.
  if (platform !== 'linux') return;
  const manifest = path.join(gen, 'manifest');
  if (!existsSync(manifest)) return;
  const state = readHeader(gen)?.state;
  if (state === undefined || syncedState(gen) === state) return;
  // Without this program or option, the base is made anew after a reboot.
  const child = spawn('sync', ['-f', manifest], { cwd: '/', stdio: 'ignore' }).on('error', () => undefined);
  child.on('exit', (status) => {
    try {
      if (status === 0) writeFileAtomic(path.join(gen, 'synced'), state);
    } catch {
      // The generation has been removed since.
    }
  });
  child.unref();
}

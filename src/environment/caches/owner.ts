import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'caches-id';
const BYTES = 16;

/**
 * A random text that is part of every address here, made at the first call. Two users of one engine, or two machines, get
 * volumes of their own: neither removes or fills one that sessions of the other use.
 */
export function cachesOwner(cacheDir: string): string {
  const file = join(cacheDir, FILE);
  const found = knownCachesOwner(cacheDir);
  if (found !== undefined) return found;
  mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
  const scratch = `${file}.${process.pid}`;
  writeFileSync(scratch, randomBytes(BYTES).toString('hex'), { mode: 0o600 });
  try {
    // Of two processes, both use the file of the first.
    linkSync(scratch, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(scratch, { force: true });
  }
  return knownCachesOwner(cacheDir) ?? '';
}

/** The same text, where it was made already. */
export function knownCachesOwner(cacheDir: string): string | undefined {
  try {
    return readFileSync(join(cacheDir, FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

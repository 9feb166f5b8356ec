import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProcessIdentity } from '../types/session.ts';
import { processIdentity, processState } from './process.ts';

const OWNER = 'owner.json';

/**
 * Makes a directory for as long as this process runs, in a folder that others may fill too; those that processes of
 * this person left, which are provably gone, are removed. Gives its path. Throws what mkdtemp throws.
 */
export async function makeOwnedDir(folder: string, prefix: string): Promise<string> {
  await removeAbandoned(folder, prefix);
  const dir = await mkdtemp(path.join(folder, prefix));
  await writeFile(path.join(dir, OWNER), JSON.stringify(processIdentity()), { mode: 0o600 });
  return dir;
}

async function removeAbandoned(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const dir = path.join(folder, name);
    try {
      // Nobody else can rename what is this person's in a folder that everybody may fill.
      if ((await lstat(dir)).uid !== process.getuid?.()) continue;
      const owner = JSON.parse(await readFile(path.join(dir, OWNER), 'utf8')) as ProcessIdentity;
      if (processState(owner) === 'gone') await rm(dir, { recursive: true, force: true });
    } catch {
      // Another command removes it as well, or has not said yet whose it is.
    }
  }
}

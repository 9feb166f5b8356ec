import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProcessIdentity } from '../../types/session.ts';
import { processIdentity, processState } from '../processes/process.ts';

const OWNER = 'owner.json';

/**
 * Makes a directory for the lifetime of this process, in a folder that others may write too, and removes the directories
 * of this user's processes that have provably ended. Returns its path. Throws what mkdtemp throws.
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
      // No other user can rename this user's entries in a folder with the sticky bit.
      if ((await lstat(dir)).uid !== process.getuid?.()) continue;
      const owner = JSON.parse(await readFile(path.join(dir, OWNER), 'utf8')) as ProcessIdentity;
      if (processState(owner) === 'ended') await rm(dir, { recursive: true, force: true });
    } catch {
      // Another command removes it too, or has not written its owner yet.
    }
  }
}

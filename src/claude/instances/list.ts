import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../errors.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { instanceKey, readOwnFile, readRoot } from './instance.ts';
import { mountPointOf } from './mount-point.ts';

export interface InstanceFacts {
  readonly key: string;
  readonly dir: string;
  /** Empty when the directory does not say. */
  readonly root: string;
  readonly bytes: number;
  readonly lastUsedMs: number;
  /** gone: its project's path is absent. away: absent with the drive that it was on, or not to be looked at now. */
  readonly state: 'present' | 'gone' | 'away' | 'foreign';
}

/** All instances, most recently used first. Anything in the directory that is not one of ours is left out. */
export async function listInstances(dataDir: string): Promise<InstanceFacts[]> {
  const top = join(dataDir, 'projects');
  const names = await readdir(top, { withFileTypes: true }).catch(() => []);
  const found: InstanceFacts[] = [];
  for (const { name } of names.filter((entry) => entry.isDirectory() && /^[0-9a-f]{16}$/.test(entry.name))) {
    const dir = join(top, name);
    const root = await readRoot(dir);
    const ours = root !== undefined && instanceKey(root) === name;
    const size = await sizeOf(dir);
    found.push({ key: name, dir, root: root ?? '', ...size, state: ours ? await stateOf(dir, root) : 'foreign' });
  }
  return found.sort((a, b) => b.lastUsedMs - a.lastUsedMs);
}

/** Bytes and newest time of a tree of ours; links are not followed. */
async function sizeOf(dir: string): Promise<{ bytes: number; lastUsedMs: number }> {
  let bytes = 0;
  let lastUsedMs = 0;
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    const path = join(dir, entry.name);
    const facts = await lstat(path).catch(() => undefined);
    if (facts === undefined) continue;
    const below = entry.isDirectory() ? await sizeOf(path) : { bytes: facts.size, lastUsedMs: facts.mtimeMs };
    bytes += below.bytes;
    lastUsedMs = Math.max(lastUsedMs, below.lastUsedMs);
  }
  return { bytes, lastUsedMs };
}

/**
 * Whether an instance's project is still there. A drive that is not mounted takes its mount point's device with it:
 * where the recorded mount point is no longer one, or where looking fails with anything but "no such file", the
 * project counts as away, never as gone.
 */
async function stateOf(dir: string, root: string): Promise<InstanceFacts['state']> {
  const failure = await stat(root).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (failure === undefined) return 'present';
  if (failure !== 'ENOENT' && failure !== 'ENOTDIR') return 'away';
  const mount = (await readOwnFile(join(dir, 'mount-point'), 1 << 16))?.toString('utf8').trim() ?? '/';
  if (mount === '/') return 'gone';
  return (await mountPointOf(mount)) === mount ? 'gone' : 'away';
}

/**
 * Removes an instance's directory, never what a link in it leads to. Throws RunClaudeError INSTANCE_FOREIGN when the
 * directory is not one of ours any more.
 */
export async function removeInstance(instance: Pick<InstanceFacts, 'key' | 'dir' | 'root'>): Promise<void> {
  const facts = await lstat(instance.dir).catch(() => undefined);
  if (facts === undefined) return;
  if (!facts.isDirectory() || instanceKey((await readRoot(instance.dir)) ?? '') !== instance.key)
    throw new RunClaudeError('INSTANCE_FOREIGN', `${instance.dir} is not an instance of ours: left alone`, {
      hint: 'Look at it, and remove it by hand.',
    });
  await removeTree(instance.dir);
}

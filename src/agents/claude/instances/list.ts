import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import { removeTree } from '../../../core/host/files/remove-tree.ts';
import { instanceKey, readOwnFile, readRoot } from './instance.ts';
import { mountPointOf } from './mount-point.ts';

export interface InstanceFacts {
  readonly key: string;
  readonly dir: string;
  /** Empty when it is not recorded. */
  readonly root: string;
  readonly bytes: number;
  readonly lastUsedMs: number;
  /** deleted: its project no longer exists. away: the project's drive is not mounted, or its path cannot be read now. */
  readonly state: 'present' | 'deleted' | 'away' | 'foreign';
}

/** All instances, most recently used first. Directories with other names are left out. */
export async function listInstances(dataDir: string): Promise<InstanceFacts[]> {
  const top = join(dataDir, 'projects');
  const names = await readdir(top, { withFileTypes: true }).catch(() => []);
  const found: InstanceFacts[] = [];
  for (const { name } of names.filter((entry) => entry.isDirectory() && /^[0-9a-f]{16}$/.test(entry.name))) {
    const dir = join(top, name);
    const root = await readRoot(dir);
    const isOwn = root !== undefined && instanceKey(root) === name;
    const size = await sizeOf(dir);
    found.push({ key: name, dir, root: root ?? '', ...size, state: isOwn ? await stateOf(dir, root) : 'foreign' });
  }
  return found.sort((a, b) => b.lastUsedMs - a.lastUsedMs);
}

/** The bytes and the newest time of a tree. Links are not followed. */
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
 * Whether an instance's project exists. It counts as away, and not as deleted, where the recorded mount point is no longer
 * a mount point, and where reading fails with anything except "no such file".
 */
async function stateOf(dir: string, root: string): Promise<InstanceFacts['state']> {
  const failure = await stat(root).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (failure === undefined) return 'present';
  if (failure !== 'ENOENT' && failure !== 'ENOTDIR') return 'away';
  const mount = (await readOwnFile(join(dir, 'mount-point'), 1 << 16))?.toString('utf8').trim() ?? '/';
  if (mount === '/') return 'deleted';
  return (await mountPointOf(mount)) === mount ? 'deleted' : 'away';
}

/**
 * Removes an instance's directory, never the target of a link in it.
 *
 * @throws {RunClaudeError} INSTANCE_FOREIGN when the directory is no longer the instance
 */
export async function removeInstance(instance: Pick<InstanceFacts, 'key' | 'dir' | 'root'>): Promise<void> {
  const facts = await lstat(instance.dir).catch(() => undefined);
  if (facts === undefined) return;
  if (!facts.isDirectory() || instanceKey((await readRoot(instance.dir)) ?? '') !== instance.key)
    throw new RunClaudeError(
      'INSTANCE_FOREIGN',
      `${instance.dir} is not an instance of run-claude's and was not removed`,
      { hint: 'Check its content, and remove it by hand.' },
    );
  await removeTree(instance.dir);
}

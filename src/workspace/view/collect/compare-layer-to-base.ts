import { parentPath, type RelPath } from '../../../core/text/path.ts';
import type { ListedEntry } from '../../../core/types/collector.ts';
import type { Collector } from '../../collector/client.ts';
import type { Delta } from '../../layer/layer.ts';

/** The metadata of an entry on both sides, which may be equal. */
export interface ComparedEntry {
  readonly path: RelPath;
  readonly before: ListedEntry | undefined;
  readonly after: ListedEntry | undefined;
}

const AT_ONCE = 2000;

/** Everything that the session touched, each with the base's entry, sorted by path. Reads metadata of upper and base only. */
export async function compareLayerToBase(collector: Collector, delta: Delta): Promise<ComparedEntry[]> {
  const pairs = new Map<string, ComparedEntry>();
  await pairPresent(collector, delta.present, pairs);
  const hidden = new Set(delta.opaque);
  for (const { path, before, after } of [...pairs.values()]) {
    // An entry that replaced a directory hides all that was in it, unless it can't be read.
    if (before?.kind === 'dir' && after?.kind !== 'dir' && after?.problem === undefined) hidden.add(path);
  }
  for (const path of hidden) await addDeletedBelow(collector, path, pairs);
  for (const path of delta.deleted) {
    const before = await collector.stat('base', path as RelPath);
    if (before === undefined || pairs.has(path)) continue;
    pairs.set(path, { path: before.path, before, after: undefined });
    if (before.kind === 'dir') await addDeletedBelow(collector, path, pairs);
  }
  return [...pairs.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Below a directory that the base does not have, the base is not asked for each entry. */
async function pairPresent(
  collector: Collector,
  present: readonly ListedEntry[],
  pairs: Map<string, ComparedEntry>,
): Promise<void> {
  const fresh = new Set<string>();
  const asked = new Set<string>();
  let wave: ListedEntry[] = [];
  const flush = async (): Promise<void> => {
    const entries = wave;
    wave = [];
    asked.clear();
    const found = await Promise.all(entries.map((entry) => collector.stat('base', entry.path)));
    entries.forEach((after, index) => {
      const before = found[index];
      pairs.set(after.path, { path: after.path, before, after });
      if (after.kind === 'dir' && before?.kind !== 'dir') fresh.add(after.path);
    });
  };
  for (const after of present) {
    const parent = parentPath(after.path);
    if (asked.has(parent) || wave.length === AT_ONCE) await flush();
    if (fresh.has(parent)) {
      pairs.set(after.path, { path: after.path, before: undefined, after });
      if (after.kind === 'dir') fresh.add(after.path);
    } else {
      wave.push(after);
      if (after.kind === 'dir') asked.add(after.path);
    }
  }
  await flush();
}

async function addDeletedBelow(collector: Collector, path: string, pairs: Map<string, ComparedEntry>): Promise<void> {
  const base = await collector.stat('base', path as RelPath);
  if (base?.kind !== 'dir') return;
  for await (const before of collector.list('base', path as RelPath)) {
    if (!pairs.has(before.path)) pairs.set(before.path, { path: before.path, before, after: undefined });
  }
}

import type { RelPath } from '../types/path.ts';
import type { Collector } from './collector.ts';
import type { Delta } from './layer.ts';
import { pairWithBase } from './pair.ts';
import type { LiveChange } from './workspace.ts';

/** What differs by its metadata, without reading content: for people who watch, never for the gate. */
export async function liveChanges(collector: Collector, delta: Delta, limit: number): Promise<readonly LiveChange[]> {
  const found: LiveChange[] = [];
  for (const { path, before, after } of await pairWithBase(collector, delta)) {
    if (found.length === limit) break;
    const kind = liveKind(before, after);
    if (kind !== undefined)
      found.push({ path: path as RelPath, kind, size: after?.size ?? 0, stamp: after?.ctimeNs ?? '' });
  }
  return found;
}

function liveKind(
  before: Parameters<typeof sameMeta>[0] | undefined,
  after: Parameters<typeof sameMeta>[0] | undefined,
): LiveChange['kind'] | undefined {
  if (after?.problem !== undefined) return 'unreadable';
  if (before === undefined) return after === undefined ? undefined : 'created';
  if (after === undefined) return 'deleted';
  if (before.kind !== after.kind) return 'type';
  if (!sameMeta(before, after)) return 'modified';
  return before.mode === after.mode ? undefined : 'mode';
}

type Meta = Awaited<ReturnType<Collector['stat']>> & object;

function sameMeta(a: Meta, b: Meta): boolean {
  if (a.kind === 'dir') return true;
  return a.kind === 'symlink' ? a.target === b.target : a.size === b.size && a.mtimeNs === b.mtimeNs;
}

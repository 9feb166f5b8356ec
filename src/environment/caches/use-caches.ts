import { dirname, posix } from 'node:path';
import type { Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { MadeCache } from '../../core/types/setup/cache.ts';
import type { PlaceEntry } from '../../engines/engine/place.ts';
import type { Ecosystem } from './ecosystem.ts';
import { readMarker } from './marker.ts';
import { cacheMount, insideDir } from './place.ts';
import { isUsable } from './usable.ts';

/** What a session gets of its plan's caches. */
export interface UsedCaches {
  readonly mounts: readonly Mount[];
  /** Without variables that the plan has. */
  readonly env: Readonly<Record<string, string>>;
  /** Links in the agent's home, where its tools look for archives. Their directories are the session's own. */
  readonly homeEntries: readonly PlaceEntry[];
}

/** The caches of a plan that still exist: a session works without one that was removed. */
export async function useCaches(engine: Runtime, plan: Plan): Promise<UsedCaches> {
  const mounts: Mount[] = [];
  const env: Record<string, string> = {};
  // By path: two ecosystems share the repository of Maven.
  const entries = new Map<string, PlaceEntry>();
  const { caches = [] } = plan;
  if (caches.length === 0) return { mounts, env, homeEntries: [] };
  // Large: it reads the lock files of every ecosystem.
  const { ecosystemOf } = await import('./ecosystems.ts');
  for (const cache of caches) {
    if (!(await isUsable(engine, cache, plan))) continue;
    const ecosystem = ecosystemOf(cache.ecosystem);
    mounts.push(cacheMount(engine.facts, cache, plan));
    for (const [name, value] of Object.entries(ecosystem.env(insideDir(cache.ecosystem))))
      if (plan.env[name] === undefined) env[name] = value;
    for (const entry of [...fileEntries(ecosystem), ...linkEntries(cache, ecosystem)]) entries.set(entry.path, entry);
  }
  return { mounts, env, homeEntries: withFolders([...entries.values()]) };
}

function linkEntries({ ecosystem, dir }: MadeCache, { linksOf }: Ecosystem): PlaceEntry[] {
  return (readMarker(dir)?.paths ?? []).flatMap((path) =>
    linksOf(path).map((at) => ({
      path: at,
      mode: 0o777,
      content: { link: posix.join(insideDir(ecosystem), path) },
    })),
  );
}

function fileEntries({ name, homeFiles }: Ecosystem): PlaceEntry[] {
  return Object.entries(homeFiles?.(insideDir(name)) ?? {}).map(([path, text]) => ({
    path,
    mode: 0o644,
    content: Buffer.from(text),
  }));
}

function withFolders(entries: readonly PlaceEntry[]): PlaceEntry[] {
  const folders = new Set<string>();
  for (const { path } of entries) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at);
  return [...[...folders].sort().map((path): PlaceEntry => ({ path, mode: 0o755, content: 'directory' })), ...entries];
}

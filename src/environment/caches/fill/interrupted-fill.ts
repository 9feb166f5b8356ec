import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJsonAtomic } from '../../../core/store/record.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { removeContainers } from '../../../engines/engine/containers/remove-containers.ts';
import { markerOf } from '../marker.ts';

/** Exists while a cache is filled, and names the session that fills it. */
const FILE = 'filling.json';

/**
 * Returns the result of `fill` for a cache whose lock is held, and ends what an earlier command left that was killed while
 * it filled it: its containers would go on to write, and an engine removes no volume that a container has. Until the caller
 * writes the marker, the cache is not one that was filled.
 *
 * @throws what `fill` and the engine throw
 */
export async function withoutInterruptedFill<T>(
  engine: Runtime,
  dir: string,
  sessionId: string,
  fill: () => Promise<T>,
): Promise<T> {
  const file = join(dir, FILE);
  const killed = sessionIn(file);
  if (killed !== undefined) await removeContainers(engine, killed);
  // A cache whose place was removed may still have its marker: nobody may use the new place before it is filled.
  rmSync(markerOf(dir), { force: true });
  writeJsonAtomic(file, { version: 1, session: sessionId });
  try {
    return await fill();
  } finally {
    rmSync(file, { force: true });
  }
}

function sessionIn(file: string): string | undefined {
  try {
    const found = readJson(file, '');
    const session: unknown = typeof found === 'object' && found !== null ? Reflect.get(found, 'session') : undefined;
    return typeof session === 'string' && session !== '' ? session : undefined;
  } catch {
    // A damaged file names no session.
    return undefined;
  }
}

import type { Engine, FoundObject } from '../types/engine.ts';

/** A build may still want a younger one. */
const BUILDING_MS = 60 * 60_000;

/** The name of an image that a new build takes its own from: what runs on it goes on. */
export function oldName(id: string): string {
  return `run-claude-old:${id.replace(/^sha256:/, '').slice(0, 16)}`;
}

/** No more than the way to an image: a stage, one that the probes never passed, one that was built anew. */
export function isLeftBehind({ kind, name, running, createdMs }: FoundObject, nowMs: number): boolean {
  return (
    kind === 'image' && !running && nowMs - createdMs > BUILDING_MS && /^(sha256|run-claude-(unproven|old)):/.test(name)
  );
}

/** Removes what earlier builds left in the engine. What the engine does not give up is for gc, which tells. */
export async function dropLeftBehind(engine: Engine, nowMs: number): Promise<void> {
  const left = (await engine.list().catch(() => [])).filter((found) => isLeftBehind(found, nowMs));
  await Promise.allSettled(left.map(({ name }) => engine.removeImage(name)));
}

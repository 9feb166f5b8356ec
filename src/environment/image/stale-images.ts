import type { FoundObject } from '../../core/types/engine.ts';
import type { ImageRuntime } from '../../core/types/runtime.ts';

/** A build may still need a younger one. */
const BUILDING_MS = 60 * 60_000;

/** The name of an image whose own name a new build took. Containers of it keep running. */
export function oldName(id: string): string {
  return `run-claude-old:${id.replace(/^sha256:/, '').slice(0, 16)}`;
}

/** Whether it is only a step to an image: a stage, an image that did not pass the probes, or a replaced one. */
export function isStaleImage({ kind, name, running, createdMs }: FoundObject, nowMs: number): boolean {
  return (
    kind === 'image' && !running && nowMs - createdMs > BUILDING_MS && /^(sha256|run-claude-(unproven|old)):/.test(name)
  );
}

/** Removes what earlier builds left in the engine. gc retries and reports what the engine did not remove. */
export async function removeStaleImages(engine: ImageRuntime, nowMs: number): Promise<void> {
  const left = (await engine.list().catch(() => [])).filter((found) => isStaleImage(found, nowMs));
  await Promise.allSettled(left.map(({ name }) => engine.images.remove(name)));
}

import { withProgress } from '../../core/progress/open-progress.ts';
import type { ImageFacts } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ImageRuntime } from '../../core/types/runtime.ts';
import { oldName } from './stale-images.ts';

export interface ProofOptions {
  /** Attacks a container of that image. Throws when an attack was not stopped. */
  readonly prove: (image: string) => Promise<void>;
  readonly tell: Tell;
  readonly signal: AbortSignal;
}

/** The name of an image that the probes have not attacked yet. */
export function unprovenName(tag: string): string {
  return tag.replace('run-claude:', 'run-claude-unproven:');
}

/**
 * Attacks the image of the unproven name, then gives it its address. An image that fails has no name that a session uses.
 * Both go by the image's id: gc of another process may take the name away, as a published image, or one that came from
 * the build cache, looks as if its build ended long ago.
 */
export async function nameProven(
  engine: ImageRuntime,
  tag: string,
  { prove, tell, signal }: ProofOptions,
): Promise<void> {
  const unproven = unprovenName(tag);
  try {
    const image = (await engine.images.facts(unproven))?.id ?? unproven;
    tell({ kind: 'message', level: 'info', text: 'Attacking a container of the new image...' });
    await withProgress(tell, 'Running the probes', () => prove(image));
    signal.throwIfAborted();
    const before = await engine.images.facts(tag);
    await engine.images.name(image, tag);
    if (before !== undefined) await keepName(engine, before, tag);
  } finally {
    await removeUnproven(engine, unproven);
  }
}

/**
 * Removes only the name, where the address uses the image. Another user of the engine may build the same image and attack
 * it at this moment: gc removes what is left.
 */
export async function removeUnproven(engine: ImageRuntime, unproven: string): Promise<void> {
  await engine.images.remove(unproven).catch(() => undefined);
}

/** Gives an image that lost its name to a new build another name. Without one it looks like an image that a user built
 * upon it. */
async function keepName(engine: ImageRuntime, { id }: ImageFacts, tag: string): Promise<void> {
  if ((await engine.images.facts(tag))?.id === id) return;
  // The build is done, also when this fails.
  await engine.images.name(id, oldName(id)).catch(() => undefined);
}

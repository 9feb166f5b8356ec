import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageRuntime } from '../../../core/types/runtime.ts';
import type { EnsureImageOptions } from '../ensure.ts';
import { nameProven, unprovenName } from '../proven.ts';

/** What making any layer over an image needs. */
export interface LayerOptions
  extends Pick<EnsureImageOptions, 'cacheDir' | 'rebuild' | 'tell' | 'signal' | 'prove' | 'exclusive'> {
  /** The image below it, which exists on the engine. */
  readonly below: string;
}

/** The address of an image that is made from these parts, whether it exists or not. */
export function addressLayer(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return `run-claude:${hash.digest('hex').slice(0, 16)}`;
}

/**
 * Makes an image where the engine does not have it, and has it attacked by the probes before it gets its address. Of
 * several processes that need it, one does this.
 *
 * @param build makes the image of the name `unproven`; `dir` is for what it fetches and sends
 * @throws {RunClaudeError} IMAGE_REFUSED; what `build` throws
 */
export async function ensureLayer(
  engine: ImageRuntime,
  tag: string,
  options: LayerOptions,
  build: (to: { readonly unproven: string; readonly dir: string }) => Promise<void>,
): Promise<void> {
  const isDone = async (): Promise<boolean> => !options.rebuild && (await engine.images.has(tag));
  if (await isDone()) return;
  const dir = join(options.cacheDir, 'image');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await options.exclusive(join(dir, 'build.lock'), async () => {
    if (await isDone()) return;
    await build({ unproven: unprovenName(tag), dir });
    await nameProven(engine, tag, options);
  });
}

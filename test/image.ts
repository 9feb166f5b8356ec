import type { Engine } from '../src/types/engine.ts';

/** The image that the engine tests run in. */
export async function testImage(engine: Engine): Promise<string> {
  for (const tag of ['run-claude-dev-base:bookworm']) if (await engine.hasImage(tag)) return tag;
  throw new Error('the image is missing: scripts/build-image.sh');
}

import { it } from 'vitest';
import { connectForTest } from '../../../support/engine.ts';
import { gcAfterBuilds } from './stale-images.ts';

it('gc removes stages, rebuilt images and other versions, and no image that is in use, current or of another program', async () => {
  const engine = await connectForTest();
  try {
    await gcAfterBuilds(engine);
  } finally {
    await engine.close();
  }
});

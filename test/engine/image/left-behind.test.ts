import { it } from 'vitest';
import { connectForTest } from '../../support/engine.ts';
import { gcAfterBuilds } from './left-behind.ts';

it('gc takes what builds leave: stages, what was built anew, other versions; nothing in use, current or of others', async () => {
  const engine = await connectForTest();
  try {
    await gcAfterBuilds(engine);
  } finally {
    await engine.close();
  }
});

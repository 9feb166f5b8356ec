import { expect, it } from 'vitest';
import { withListLimit } from '../../../../src/cli/engines/open-all-engines.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';

const engineThat = (list: Engine['list']): Engine => ({ list }) as Engine;

it('an engine that lists its objects in time is not limited', async () => {
  await expect(
    withListLimit(
      engineThat(async () => []),
      1000,
    ).list(),
  ).resolves.toEqual([]);
});

it('an engine that stopped answering after it was connected is given up', async () => {
  const silent = withListLimit(
    engineThat(() => new Promise(() => undefined)),
    20,
  );
  await expect(silent.list()).rejects.toMatchObject({ code: 'ENGINE_SLOW' });
});

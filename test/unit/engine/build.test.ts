import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { expect, it } from 'vitest';
import { buildImage } from '../../../src/engine/build.ts';

it('builds without the network where nothing has to be fetched', async () => {
  const asked: unknown[] = [];
  const docker = {
    buildImage: async (_: unknown, options: unknown) => {
      asked.push(options);
      return Readable.from([]);
    },
  } as unknown as Docker;
  const request = { tag: 'x', args: {}, fresh: false, onOutput: () => undefined };
  const context = (async function* () {})();
  await buildImage(docker, context, { ...request, connected: false });
  await buildImage(docker, context, request);
  expect(asked).toMatchObject([{ networkmode: 'none' }, {}]);
  expect(asked[1]).not.toHaveProperty('networkmode');
});

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import Docker from 'dockerode';
import { afterEach, expect, it } from 'vitest';
import { buildImage, pullImage } from '../../../../src/engines/engine/build.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

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

it('a pull ends when the registry gives no first answer, or is not complete in time', async () => {
  const silent = await pulling(() => undefined);
  await expect(
    pullImage(silent.docker, 'some/image', 60_000, silent.signal, { firstAnswerMs: 100 }),
  ).rejects.toMatchObject({
    code: 'IMAGE_PULL_FAILED',
    message: 'could not pull some/image: no answer within 0.1 s',
  });
  // The engine ends a pull whose client disconnects.
  await silent.ended;
  const slow = await pulling((response) => response.write('{"status":"Pulling from some/image"}\n'));
  await expect(pullImage(slow.docker, 'some/image', 400, slow.signal, { firstAnswerMs: 200 })).rejects.toThrow(
    'could not pull some/image: not complete after 0.4 s',
  );
  await slow.ended;
});

it('a pull takes its time after the first answer, and reports what the registry refused', async () => {
  const good = await pulling((response) => {
    response.write('{"status":"Pulling from some/image"}\n');
    setTimeout(() => response.end('{"status":"Pull complete"}\n'), 300);
  });
  await pullImage(good.docker, 'some/image', 60_000, good.signal, { firstAnswerMs: 200 });
  const refused = await pulling((response) => response.end('{"error":"unauthorized"}\n'));
  await expect(pullImage(refused.docker, 'some/image', 60_000, refused.signal, { firstAnswerMs: 200 })).rejects.toThrow(
    'unauthorized',
  );
});

/** An engine on loopback that answers a request by `answer`. */
async function pulling(answer: (response: ServerResponse) => unknown) {
  let markEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    markEnded = resolve;
  });
  const server = createServer((_, response) => {
    response.once('close', markEnded);
    answer(response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const docker = new Docker({ protocol: 'http', host: '127.0.0.1', port });
  return { docker, ended, signal: new AbortController().signal };
}

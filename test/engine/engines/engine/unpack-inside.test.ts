import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Container, ContainerSpec } from '../../../../src/core/types/engine.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { removeContainers } from '../../../../src/engines/engine/containers/remove-containers.ts';
import { unpackInside } from '../../../../src/engines/engine/containers/unpack-inside.ts';
import { connectForTest, sessionObjects, smallContainer } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

const NAME = `test-${process.pid}-unpack-inside`;
let engine: Engine;
let image: string;

beforeAll(async () => {
  engine = await connectForTest();
  image = await testImage(engine);
});
afterEach(async () => {
  await removeContainers(engine, NAME);
  await engine.removeVolume(NAME);
});
afterAll(() => engine.close());

const specOf = (argv: readonly string[]): ContainerSpec => ({
  ...smallContainer(NAME, image, argv),
  mounts: [{ kind: 'volume', volume: NAME, target: '/filled', readonly: false }],
});
const makeVolume = () => engine.createVolume({ name: NAME, labels: { 'run-claude.session': NAME } });
const create = (spec: ContainerSpec): Promise<Container> => engine.create(spec);

it('files of an archive are in the directory, with their owners and modes, before the container starts', async () => {
  await makeVolume();
  const container = await create(specOf(['/bin/sh', '-c', 'stat -c "%n %a %u:%g" /filled/* && cat /filled/closed']));
  const tar = pack();
  tar.entry({ name: 'closed', mode: 0o600, uid: 1000, gid: 2345 }, 'content\n');
  tar.entry({ name: 'open', mode: 0o755, uid: 0, gid: 0 }, '');
  tar.finalize();
  await unpackInside({ spec: specOf([]), directory: '/filled', tar, create, where: 'the volume' });
  const [output] = await Promise.all([text(container.stdout), container.start()]);
  expect(output).toBe('/filled/closed 600 1000:2345\n/filled/open 755 0:0\ncontent\n');
  expect(sessionObjects(NAME)).toHaveLength(2);
  await removeContainers(engine, NAME);
  expect((await engine.list(NAME)).map(({ kind, name }) => [kind, name])).toEqual([['volume', NAME]]);
});

it('a stream that is not an archive fails with the words of tar, and leaves no container', async () => {
  await makeVolume();
  const tar = Readable.from([Buffer.from('no archive '.repeat(1000))]);
  const unpacked = unpackInside({ spec: specOf([]), directory: '/filled', tar, create, where: 'the volume' });
  await expect(unpacked).rejects.toMatchObject({
    code: 'PLACE_FAILED',
    message: expect.stringMatching(/^the files could not be copied into the volume: .*tar archive/),
  });
  expect((await engine.list(NAME)).map(({ kind }) => kind)).toEqual(['volume']);
});

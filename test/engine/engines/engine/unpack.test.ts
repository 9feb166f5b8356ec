import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { openVolume } from '../../../../src/engines/engine/place.ts';
import { connectForTest, smallContainer } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

const OWNER = { uid: 1234, gid: 2345 };
const ENTRIES = [
  { path: '.cache', mode: 0o700, content: 'directory' as const },
  { path: '.cache/secret', mode: 0o600, content: Buffer.from('closed to others'), mtimeMs: 1_600_000_000_000 },
  { path: 'program', mode: 0o755, content: Buffer.alloc(100_000, 1), mtimeMs: 1_600_000_000_000 },
  { path: 'link', mode: 0o777, content: { link: 'nowhere' } },
];

let engine: Engine;
let image: string;

beforeAll(async () => {
  engine = await connectForTest();
  image = await testImage(engine);
});
afterAll(() => engine.close());

/** As Docker 28.5 of Debian answers on Linux 6.1. */
const refused = new RunClaudeError('ENGINE_REFUSED', 'chmod .cache: via /proc/self/fd/43: no such file or directory');
const refuse = async (): Promise<void> => {
  throw refused;
};

it('an engine that copies nothing into containers: tar in a container gives the same files', async () => {
  const engines: Record<string, Engine> = {
    copies: engine,
    'copies-nothing': { ...engine, putArchive: refuse },
    'copies-in-part': { ...engine, putArchive: (...words) => engine.putArchive(...words).then(refuse) },
  };
  const listings: Record<string, string> = {};
  for (const [name, one] of Object.entries(engines)) listings[name] = await listFilled(name, one);
  expect(listings['copies']).toContain('.cache/secret f 600 1234:2345 16 1600000000');
  expect(listings['copies']).toContain('link l 777 1234:2345');
  expect(listings['copies-nothing']).toBe(listings['copies']);
  expect(listings['copies-in-part']).toBe(listings['copies']);
});

it('where tar fails too, the engine’s own reason is printed', async () => {
  const failing: Engine = {
    ...engine,
    putArchive: refuse,
    create: (spec) => engine.create(spec.argv[0] === '/bin/tar' ? { ...spec, argv: ['/bin/false'] } : spec),
  };
  await expect(listFilled('fails', failing)).rejects.toBe(refused);
});

/** What a volume holds that was filled by that engine. */
async function listFilled(name: string, on: Engine): Promise<string> {
  const sessionId = `test-${process.pid}-${name}`;
  const place = await openVolume(on, { name: `run-claude-${sessionId}`, dir: '', owner: OWNER, image, sessionId });
  try {
    await place.fill(ENTRIES);
    // The time of a file only: a directory's is that of its last entry.
    const script = `cd /place; find . -mindepth 1 -type f -printf '%P %y %m %U:%G %s %Ts\\n' -o -mindepth 1 -printf '%P %y %m %U:%G %l\\n' | sort
cat .cache/secret; stat -c '%a %u:%g' .`;
    const spec = smallContainer(sessionId, image, ['/bin/sh', '-c', script]);
    const mounts = [...spec.mounts, place.mount('/place', true)];
    const container = await engine.create({ ...spec, mounts, user: '0:0', capabilities: ['DAC_READ_SEARCH'] });
    try {
      const printed = text(container.stdout);
      await container.start();
      return await printed;
    } finally {
      await container.remove();
    }
  } finally {
    await place.remove();
  }
}

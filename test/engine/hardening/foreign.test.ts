import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureCustomImage } from '../../../src/image/layers/custom-image.ts';
import { refuseOpenImage } from '../../../src/session/start/probe-layers.ts';
import type { Engine } from '../../../src/types/engine.ts';
import { connectForTest, smallContainer } from '../../support/engine.ts';
import { runLabel, testImage } from '../../support/image.ts';

const name = `run-claude-test-foreign-${randomBytes(4).toString('hex')}`;
const made: string[] = [];
let engine: Engine;
let ours: string;

beforeAll(async () => {
  engine = await connectForTest();
  ours = await testImage(engine);
});

afterAll(async () => {
  for (const tag of made.reverse()) await engine.removeImage(tag);
  await engine.close();
});

/** Builds an image of the test's own. */
async function build(suffix: string, dockerfile: string): Promise<string> {
  const tar = pack();
  tar.entry({ name: 'Dockerfile' }, `${dockerfile}LABEL ${runLabel()}\n`);
  tar.finalize();
  const tag = `${name}:${suffix}`;
  await engine.buildImage(tar, { tag, args: {}, fresh: false, onOutput: () => undefined });
  made.push(tag);
  return tag;
}

function layOver(reference: string): Promise<string> {
  const prove = (image: string): Promise<void> =>
    refuseOpenImage(engine, { image, runtime: undefined, user: '1000:1000' });
  return ensureCustomImage(engine, { reference, ours, tell: () => undefined, prove });
}

describe('a custom image', () => {
  it('gets run-claude’s guards, tools and user, passes the probes, and sets no variables', async () => {
    // A derivative of Debian with none of run-claude's programs and everything that it should not have.
    const reference = await build(
      'debian',
      `FROM ${ours}
USER 0
RUN rm -rf /etc/gitconfig /etc/claude-code /usr/lib/run-claude /opt/claude /opt/npm /usr/local/bin/claude /usr/local/bin/npm \\
 && userdel agent && useradd -u 1000 somebody \\
 && cp /bin/true /usr/local/bin/planted && chmod 4755 /usr/local/bin/planted && cp /bin/true /usr/bin/nsenter \\
 && : > /etc/ld.so.preload
ENV GITHUB_TOKEN=hidden LD_PRELOAD=/nowhere.so
ENTRYPOINT ["/bin/false"]
`,
    );
    await expect(
      refuseOpenImage(engine, { image: ours, runtime: undefined, user: '1000:1000' }),
    ).resolves.toBeUndefined();
    const tag = await layOver(reference);
    made.push(tag);
    expect(await layOver(reference)).toBe(tag);
    const container = await engine.create({
      ...smallContainer(`${name}-in`, tag, ['sh', '-c', 'id -un; env | sort; /usr/local/bin/claude --version']),
      limits: { memoryMb: 1024, cpus: 0, pids: 64, nofile: 1024, shmMb: 16 },
    });
    const output = text(container.stdout);
    await container.start();
    await container.wait();
    await container.remove();
    expect(await output).toMatch(/^agent\n(?:(?:HOME|HOSTNAME|PATH|PWD)=.*\n)+\d+\.\d+\.\d+ \(Claude Code\)\n$/);
  });

  it('is refused by the probes when a layer does not work in it', async () => {
    const weak = await build(
      'weak',
      `FROM ${ours}\nUSER 0\nRUN cp /bin/true /opt/planted && chmod 4755 /opt/planted\n`,
    );
    const refused = refuseOpenImage(engine, { image: weak, runtime: undefined, user: '1000:1000' });
    await expect(refused).rejects.toMatchObject({
      code: 'IMAGE_REFUSED',
      message: expect.stringContaining('setid/opt'),
    });
  });

  it('is refused with the reason when the guards cannot work', async () => {
    const alpine = pack();
    const busybox = readFileSync(execFileSync('which', ['busybox'], { encoding: 'utf8' }).trim());
    alpine.entry({ name: 'bin/busybox', mode: 0o755 }, busybox);
    alpine.entry({ name: 'bin/sh', type: 'symlink', linkname: 'busybox' });
    alpine.entry({ name: 'lib/ld-musl-x86_64.so.1', mode: 0o755 }, '');
    alpine.finalize();
    await engine.importImage(alpine, `${name}:alpine`);
    made.push(`${name}:alpine`);
    await expect(layOver(await build('musl', `FROM ${name}:alpine\n`))).rejects.toMatchObject({
      code: 'IMAGE_REFUSED',
      message: expect.stringContaining('musl'),
    });
    const triggers = await build('triggers', `FROM ${ours}\nONBUILD RUN touch /x\n`);
    await expect(layOver(triggers)).rejects.toThrow('ONBUILD');
    await expect(layOver(`${name}:absent`)).rejects.toMatchObject({ code: 'IMAGE_MISSING' });
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { ensureCustomImage } from '../../../src/environment/image/layers/custom-image.ts';
import { refuseOpenImage } from '../../../src/session/stage/probe-layers.ts';
import { customImages } from '../../support/custom-images.ts';
import { smallContainer } from '../../support/engine.ts';

const images = customImages('foreign');

function layOver(reference: string): Promise<string> {
  const prove = (image: string): Promise<void> =>
    refuseOpenImage(images.engine, { image, runtime: undefined, user: '1000:1000' });
  return ensureCustomImage(images.engine, { reference, ours: images.ours, tell: () => undefined, prove });
}

describe('a custom image', () => {
  it('gets run-claude’s guards, tools and user, passes the probes, and sets no variables', async () => {
    // A derivative of Debian with none of run-claude's programs and everything that it should not have.
    const reference = await images.build(`FROM ${images.ours}
USER 0
RUN rm -rf /etc/gitconfig /etc/claude-code /usr/lib/run-claude /opt/claude /opt/npm /usr/local/bin/claude /usr/local/bin/npm \\
 && userdel agent && useradd -u 1000 somebody \\
 && cp /bin/true /usr/local/bin/planted && chmod 4755 /usr/local/bin/planted && cp /bin/true /usr/bin/nsenter \\
 && : > /etc/ld.so.preload
ENV GITHUB_TOKEN=hidden LD_PRELOAD=/nowhere.so
ENTRYPOINT ["/bin/false"]
`);
    await expect(
      refuseOpenImage(images.engine, { image: images.ours, runtime: undefined, user: '1000:1000' }),
    ).resolves.toBeUndefined();
    const tag = await layOver(reference);
    images.removeLater(tag);
    expect(await layOver(reference)).toBe(tag);
    const container = await images.engine.create({
      ...smallContainer(`${images.name}-in`, tag, ['sh', '-c', 'id -un; env | sort; /usr/local/bin/claude --version']),
      limits: { memoryMb: 1024, cpus: 0, pids: 64, nofile: 1024, shmMb: 16 },
    });
    const output = text(container.stdout);
    await container.start();
    await container.wait();
    await container.remove();
    expect(await output).toMatch(/^agent\n(?:(?:HOME|HOSTNAME|PATH|PWD)=.*\n)+\d+\.\d+\.\d+ \(Claude Code\)\n$/);
  });

  it('keeps accounts that are named as run-claude’s own, under other names', async () => {
    const reference = await images.build(`FROM ${images.ours}
USER 0
RUN userdel -r agent; userdel companion; rm -rf /workspace; groupadd -g 1700 agent && useradd -u 1700 -g agent agent \\
 && groupadd -g 1800 companion && useradd -u 1800 -g companion companion \\
 && useradd -u 1000 first && useradd -o -u 1000 second
`);
    const tag = await layOver(reference);
    images.removeLater(tag);
    const script = 'id -un; id -gn; for id in 1700 1800 61000; do getent passwd $id | cut -d: -f1; id -gn $id; done';
    const container = await images.engine.create(smallContainer(`${images.name}-names`, tag, ['sh', '-c', script]));
    const output = text(container.stdout);
    await container.start();
    await container.wait();
    await container.remove();
    expect((await output).split('\n')).toEqual([
      ...['agent', 'agent', 'image-agent', 'image-agent', 'image-companion', 'image-companion'],
      ...['companion', 'companion', ''],
    ]);
  });

  it('is refused by the probes when a layer does not work in it', async () => {
    const weak = await images.build(
      `FROM ${images.ours}\nUSER 0\nRUN cp /bin/true /opt/planted && chmod 4755 /opt/planted\n`,
    );
    const refused = refuseOpenImage(images.engine, { image: weak, runtime: undefined, user: '1000:1000' });
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
    await images.engine.images.import(alpine, `${images.name}:alpine`);
    images.removeLater(`${images.name}:alpine`);
    await expect(layOver(await images.build(`FROM ${images.name}:alpine\n`))).rejects.toMatchObject({
      code: 'IMAGE_REFUSED',
      message: expect.stringContaining('musl'),
    });
    const triggers = await images.build(`FROM ${images.ours}\nONBUILD RUN touch /x\n`);
    await expect(layOver(triggers)).rejects.toThrow('ONBUILD');
    await expect(layOver(`${images.name}:absent`)).rejects.toMatchObject({ code: 'IMAGE_MISSING' });
  });
});

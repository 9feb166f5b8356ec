import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { connectForTest, smallContainer } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

const run = `run-claude-test-${randomBytes(4).toString('hex')}`;
let engine: Engine;
let image: string;

beforeAll(async () => {
  engine = await connectForTest();
  image = await testImage(engine);
});

afterAll(async () => {
  for (const found of await engine.list()) {
    if (found.kind === 'container') await (await engine.running.find(found.name))?.remove();
  }
  for (const found of await engine.list()) {
    if (found.kind === 'volume') await engine.removeVolume(found.name);
    if (found.kind === 'network') await engine.networks.remove(found.name);
  }
  await engine.close();
});

describe('a container', () => {
  it('has no capability, no new privileges, a read-only root and no network', async () => {
    const script = 'grep -E "Cap(Eff|Bnd)|NoNewPrivs|Seccomp:" /proc/self/status; touch /x 2>&1; ls /sys/class/net';
    const container = await engine.create(smallContainer(`${run}-a`, image, ['sh', '-c', script]));
    const output = text(container.stdout);
    await container.start();
    expect(await container.wait()).toBe(0);
    expect(await output).toMatch(
      /CapEff:\s+0{16}\nCapBnd:\s+0{16}\nNoNewPrivs:\s+1\nSeccomp:\s+2\n.*Read-only file system\nlo\n$/,
    );
    await container.remove();
    await container.remove();
  });

  it('passes arguments, stdin, stdout, stderr and the exit status unchanged', async () => {
    const argv = ['sh', '-c', 'printf "%s|" "$@"; cat; echo to stderr >&2; exit 7', 'sh', 'a b', '$HOME', '', '-n\n"'];
    const container = await engine.create({ ...smallContainer(`${run}-b`, image, argv), stdin: 'stream' });
    const [stdout, stderr] = [text(container.stdout), text(container.stderr)];
    await container.start();
    container.stdin?.end('from stdin');
    expect(await container.wait()).toBe(7);
    expect(await stdout).toBe('a b|$HOME||-n\n"|from stdin');
    expect(await stderr).toBe('to stderr\n');
    await container.remove();
  });

  it('has a terminal of the requested size, receives signals, and runs additional programs', async () => {
    const script = 'trap "echo bye; exit 9" TERM; trap "stty size" WINCH; echo ready; while :; do sleep 0.1; done';
    const container = await engine.create({
      ...smallContainer(`${run}-c`, image, ['sh', '-c', script]),
      tty: true,
      stdin: 'stream',
    });
    let output = '';
    container.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await container.start();
    await expect.poll(() => output).toContain('ready');
    await container.resize(101, 33);
    await expect.poll(() => output).toContain('33 101');
    const beside = await container.exec(['sh', '-c', 'cat; id -u >&2; exit 3'], { stdin: Buffer.from('in') });
    expect([beside.status, beside.stdout.toString(), beside.stderr.toString()]).toEqual([3, 'in', '1000\n']);
    await container.pause();
    await container.unpause();
    await container.kill('SIGTERM');
    expect(await container.wait()).toBe(9);
    await expect.poll(() => output).toMatch(/bye\r\n$/);
    await container.kill('SIGTERM');
    await container.remove();
  });

  it('writes no faster than its reader reads, and loses nothing', async () => {
    const argv = ['sh', '-c', 'head -c 50000000 /dev/zero; head -c 4000000 /dev/zero >&2'];
    const container = await engine.create(smallContainer(`${run}-d`, image, argv));
    await container.start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((container.stdout as Readable).readableLength).toBeLessThan(1_000_000);
    let size = 0;
    for await (const chunk of container.stdout) size += chunk.length;
    expect(size).toBe(50_000_000);
    expect(await container.wait()).toBe(0);
    await container.remove();
  });

  it('is found again by its name, and only by its owner', async () => {
    const container = await engine.create(smallContainer(`${run}-e`, image, ['sleep', '60']));
    await container.start();
    const stranger = await connectForTest('ffffffffffffffff');
    expect(await stranger.running.find(`${run}-e`)).toBeUndefined();
    expect(await stranger.list(`${run}-e`)).toEqual([]);
    await stranger.close();
    const again = await engine.running.find(`${run}-e`);
    await again?.kill('SIGKILL');
    expect(await again?.wait()).toBe(137);
    await container.remove();
    expect(await engine.running.find(`${run}-e`)).toBeUndefined();
  });

  it('is refused and removed when the engine recorded something else', async () => {
    const { openClient } = await import('../../../../src/engines/engine/connection/client.ts');
    const { openEngine } = await import('../../../../src/engines/engine/docker.ts');
    const client = openClient({ kind: 'unix', path: engine.facts.endpoint.replace('unix://', '') });
    const strict = openEngine(client, {
      facts: engine.facts,
      owner: 'feedfeedfeedfeed',
      compare: () => ['Memory: dropped'],
    });
    await expect(strict.create(smallContainer(`${run}-f`, image, ['true']))).rejects.toMatchObject({
      code: 'ENGINE_DROPPED_OPTION',
      message: expect.stringContaining('Memory: dropped'),
    });
    expect((await strict.list()).filter(({ kind }) => kind !== 'image')).toEqual([]);
    await strict.close();
  });

  it('is reported when its image is missing', async () => {
    await expect(
      engine.create(smallContainer(`${run}-g`, 'run-claude:0000000000000000', ['true'])),
    ).rejects.toMatchObject({
      code: 'IMAGE_MISSING',
    });
  });
});

describe('volumes and archives', () => {
  it('keeps owners and modes of an archive in a volume', async () => {
    const name = `${run}-v`;
    await engine.createVolume({ name, labels: { 'run-claude.session': run } });
    const mount = { kind: 'volume', volume: name, target: '/v', readonly: true } as const;
    const spec = {
      ...smallContainer(`${run}-h`, image, ['stat', '-c', '%n %u:%g %a', '/v/d', '/v/d/f']),
      mounts: [mount],
    };
    const writer = await engine.create({ ...spec, name: `${run}-w`, mounts: [{ ...mount, readonly: false }] });
    const tar = pack();
    tar.entry({ name: './d', type: 'directory', mode: 0o700, uid: 1000, gid: 1000 });
    tar.entry({ name: './d/f', mode: 0o640, uid: 1234, gid: 4321 }, 'content');
    tar.finalize();
    await engine.putArchive(writer.id, '/v', tar);
    await writer.remove();
    const reader = await engine.create(spec);
    const output = text(reader.stdout);
    await reader.start();
    expect(await reader.wait()).toBe(0);
    expect(await output).toBe('/v/d 1000:1000 700\n/v/d/f 1234:4321 640\n');
    await reader.remove();
    expect((await engine.list(run)).map((found) => found.kind)).toEqual(['volume']);
    await engine.removeVolume(name);
    await engine.removeVolume(name);
  });

  it('makes and removes a network', async () => {
    await engine.networks.create(`${run}-n`, { 'run-claude.session': run });
    expect((await engine.list(run)).map((found) => found.name)).toEqual([`${run}-n`]);
    await engine.networks.remove(`${run}-n`);
    await engine.networks.remove(`${run}-n`);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectForTest, smallContainer } from '../../engine.ts';
import { testImage } from '../../image.ts';
import { openSshFront, type SshFront } from '../../ssh-front.ts';

let dir: string;
let front: SshFront;
let image: string;
const path = process.env['PATH'];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rc-ssh-'));
  const local = await connectForTest();
  image = await testImage(local);
  await local.close();
  front = await openSshFront(dir);
  process.env['PATH'] = front.path;
});
afterAll(async () => {
  process.env['PATH'] = path;
  await front.close();
  rmSync(dir, { recursive: true });
});

it('runs a container with stdin over the system ssh', async () => {
  const engine = await connectForTest(undefined, { DOCKER_HOST: front.host });
  expect(engine.facts).toMatchObject({ endpoint: front.host, local: false });
  const container = await engine.create({
    ...smallContainer(`run-claude-test-ssh-${process.pid}`, image, ['cat']),
    stdin: 'stream',
  });
  const said = text(container.stdout);
  await container.start();
  container.stdin?.end('over ssh'.repeat(100_000));
  expect(await container.wait()).toBe(0);
  expect(await said).toBe('over ssh'.repeat(100_000));
  await container.remove();
  await engine.close();
});

it('says what ssh said when it fails: a host key that nobody accepted', async () => {
  writeFileSync(front.knownHosts, '');
  await expect(connectForTest(undefined, { DOCKER_HOST: front.host })).rejects.toThrow(
    /ssh:\/\/.* \(DOCKER_HOST\): No ED25519 host key is known/,
  );
});

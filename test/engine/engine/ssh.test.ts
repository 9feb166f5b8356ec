import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectEngine, ownerOf } from '../../../src/engine/connect.ts';
import type { Engine } from '../../../src/types/engine.ts';
import { connectForTest, smallContainer } from '../../engine.ts';
import { testImage } from '../../image.ts';

// The test machine has no second host: `ssh` is a script that runs the remote command here and notes its arguments.
let dir: string;
const path = process.env['PATH'];
let image: string;
let local: Engine;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rc-ssh-'));
  const script = `#!/bin/sh\nprintf '%s\\n' "$*" >> ${dir}/calls\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec "$@"\n`;
  writeFileSync(join(dir, 'ssh'), script);
  chmodSync(join(dir, 'ssh'), 0o755);
  process.env['PATH'] = `${dir}:${path}`;
  local = await connectForTest();
  image = await testImage(local);
});
afterAll(async () => {
  process.env['PATH'] = path;
  await local.close();
  rmSync(dir, { recursive: true });
});

const overSsh = (): Promise<Engine> =>
  connectEngine({
    choice: 'auto',
    env: { DOCKER_HOST: 'ssh://me@far.example.org:2222' },
    home: dir,
    platform: process.platform,
    owner: ownerOf(dir),
  });

describe('an engine over ssh', () => {
  it('runs a container with stdin through the system ssh', async () => {
    const engine = await overSsh();
    expect(engine.facts).toMatchObject({ endpoint: 'ssh://me@far.example.org:2222', local: false });
    const name = `run-claude-test-ssh-${process.pid}`;
    const container = await engine.create({ ...smallContainer(name, image, ['cat']), stdin: 'stream' });
    const said = text(container.stdout);
    await container.start();
    container.stdin?.end('over ssh');
    expect(await container.wait()).toBe(0);
    expect(await said).toBe('over ssh');
    await container.remove();
    await engine.close();
    const [call] = readFileSync(join(dir, 'calls'), 'utf8').split('\n');
    expect(call).toBe('-T -o BatchMode=yes -p 2222 -- me@far.example.org docker system dial-stdio');
  });

  it('says what ssh said when it fails', async () => {
    writeFileSync(join(dir, 'ssh'), '#!/bin/sh\necho "Host key verification failed." >&2\nexit 255\n');
    await expect(overSsh()).rejects.toThrow(
      /ssh:\/\/me@far.example.org:2222 \(DOCKER_HOST\): Host key verification failed/,
    );
  });
});

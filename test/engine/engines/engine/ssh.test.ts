import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { connectForTest, smallContainer } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';
import { mainJs } from '../../../support/scene.ts';
import { openSshFront, type SshFront } from '../../../support/ssh-front.ts';

let dir: string;
let front: SshFront;
let image: string;
const { PATH: path, TMPDIR: temporary } = process.env;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rc-ssh-'));
  const local = await connectForTest();
  image = await testImage(local);
  await local.close();
  front = await openSshFront(dir);
  process.env['PATH'] = front.path;
  process.env['TMPDIR'] = dir;
});
afterAll(async () => {
  process.env['PATH'] = path;
  if (temporary === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = temporary;
  await front.close();
  rmSync(dir, { recursive: true });
});

const connect = (): Promise<Engine> => connectForTest(undefined, { DOCKER_HOST: front.host });

it('runs a container with stdin over the system ssh', async () => {
  const engine = await connect();
  expect(engine.facts).toMatchObject({ endpoint: front.host, local: false });
  const container = await engine.create({
    ...smallContainer(`run-claude-test-ssh-${process.pid}`, image, ['cat']),
    stdin: 'stream',
  });
  const output = text(container.stdout);
  await container.start();
  container.stdin?.end('over ssh'.repeat(100_000));
  expect(await container.wait()).toBe(0);
  expect(await output).toBe('over ssh'.repeat(100_000));
  await container.remove();
  await engine.close();
});

describe('one login', () => {
  const places = (): readonly string[] => readdirSync(dir).filter((name) => name.startsWith('run-claude-ssh-'));
  const socket = (): string => join(dir, places()[0] ?? 'none', 's');

  /** The process that holds the login whose socket that is. */
  function master(at: string): number {
    const { stderr } = spawnSync('ssh', ['-O', 'check', '-o', `ControlPath=${at}`, 'any'], { encoding: 'utf8' });
    return Number(/pid=(\d+)/.exec(stderr)?.[1]);
  }

  /** A dead process stays in the list until its parent asks for it. */
  function runs(pid: number): boolean {
    try {
      return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  }

  it('serves all requests of a command through a private socket, and ends with the command', async () => {
    const before = front.logins();
    const engine = await connect();
    await Promise.all(Array.from({ length: 4 }, () => engine.images.has(image)));
    const container = await engine.create(smallContainer(`run-claude-test-ssh-one-${process.pid}`, image, ['true']));
    await container.start();
    expect(await container.wait()).toBe(0);
    await container.remove();
    expect(front.logins() - before).toBe(1);
    expect(statSync(join(socket(), '..')).mode & 0o777).toBe(0o700);
    const pid = master(socket());
    expect(runs(pid)).toBe(true);
    await engine.close();
    expect(places()).toEqual([]);
    await expect.poll(() => runs(pid)).toBe(false);
  });

  it('has one connection for requests that follow each other', async () => {
    const before = front.connections();
    const engine = await connect();
    const opened = front.connections() - before;
    for (let round = 0; round < 20; round += 1) expect(await engine.images.has(image)).toBe(true);
    expect(front.connections() - before).toBe(opened);
    await engine.close();
  });

  it('is bypassed by requests beyond the server’s limit, which log in themselves', async () => {
    const engine = await connect();
    const found = await Promise.all(Array.from({ length: 30 }, () => engine.images.has(image)));
    expect(found).toEqual(found.map(() => true));
    await engine.close();
  });

  it('that ended is replaced by a new one', async () => {
    const before = front.logins();
    const engine = await connect();
    const first = master(socket());
    process.kill(first, 'SIGKILL');
    await expect.poll(() => runs(first)).toBe(false);
    expect(await engine.images.has(image)).toBe(true);
    expect(await engine.images.has(image)).toBe(true);
    expect(front.logins() - before).toBe(2);
    const second = master(socket());
    await engine.close();
    await expect.poll(() => runs(second)).toBe(false);
    expect(places()).toEqual([]);
  });

  it('of a killed command leaves a directory, which the next command removes unless it is in use', async () => {
    const child = spawn(process.execPath, [mainJs, 'doctor'], {
      env: { PATH: front.path, TMPDIR: dir, DOCKER_HOST: front.host, HOME: mkdtempSync(join(dir, 'home-')) },
      stdio: 'ignore',
    });
    await expect.poll(() => existsSync(socket()), { interval: 5 }).toBe(true);
    process.kill(master(socket()));
    child.kill('SIGKILL');
    await once(child, 'close');
    const killed = places();
    expect(killed).toHaveLength(1);
    const next = await connect();
    expect(places()).toHaveLength(1);
    expect(places()).not.toEqual(killed);
    const other = await connect();
    expect(places()).toHaveLength(2);
    for (const engine of [next, other]) {
      expect(await engine.images.has(image)).toBe(true);
      await engine.close();
    }
    expect(places()).toEqual([]);
  });

  it("is the user's own where the configuration has a ControlPath, and is kept open", async () => {
    const own = join(dir, 'own');
    const config = readFileSync(front.config, 'utf8');
    appendFileSync(front.config, `ControlMaster auto\nControlPath ${own}\nControlPersist 600\n`);
    onTestFinished(() => {
      spawnSync('ssh', ['-O', 'exit', 'any']);
      writeFileSync(front.config, config);
    });
    const before = front.logins();
    const engine = await connect();
    expect(await engine.images.has(image)).toBe(true);
    expect(places()).toEqual([]);
    await engine.close();
    expect(front.logins() - before).toBe(1);
    expect(runs(master(own))).toBe(true);
  });
});

it('reports the error of ssh: a host key that was not accepted', async () => {
  writeFileSync(front.knownHosts, '');
  await expect(connect()).rejects.toThrow(/ssh:\/\/.* \(DOCKER_HOST\): No ED25519 host key is known/);
  expect(readdirSync(dir).filter((name) => name.startsWith('run-claude-ssh-'))).toEqual([]);
});

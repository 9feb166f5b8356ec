import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectEngine, ownerOf, startHint } from '../../../../src/engines/engine/connect.ts';
import { engineFailure } from '../../../../src/engines/engine/failure.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rc-connect-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const connect = (env: Record<string, string>, platform: NodeJS.Platform = 'linux'): Promise<unknown> =>
  connectEngine({ choice: 'docker', env, home, platform, owner: ownerOf(home) });

describe('an engine that does not answer', () => {
  it('is reported with the addresses that were tried and how to start an engine', async () => {
    const failure = connect({ DOCKER_HOST: `unix://${home}/none.sock` });
    await expect(failure).rejects.toMatchObject({
      code: 'ENGINE_UNREACHABLE',
      status: 125,
      message: `no container engine answers. Looked at:\n  unix://${home}/none.sock (DOCKER_HOST): not there`,
      hint: 'DOCKER_HOST names it: start that engine, or name another one.',
    });
  });

  it.each([
    ['auto', 'linux', 'not there', /systemctl start docker/],
    ['docker', 'darwin', 'not there', /OrbStack/],
    ['podman', 'linux', 'not there', /podman\.socket/],
    ['podman', 'darwin', 'not there', /podman machine start/],
    ['auto', 'linux', 'permission denied', /add yourself to its group/],
  ] as const)('%s on %s, %s: the hint names the next step', (choice, platform, why, hint) => {
    const candidate = { endpoint: { kind: 'unix', path: '/none' }, from: 'default' } as const;
    expect(startHint({ choice, platform }, [{ candidate, why }])).toMatch(hint);
  });

  it('is not confused with the socket of another engine that the user may not use', () => {
    const attempt = (path: string, why: string) => ({
      candidate: { endpoint: { kind: 'unix', path }, from: 'default' } as const,
      why,
    });
    const attempts = [attempt('/docker.sock', 'no answer'), attempt('/podman.sock', 'permission denied')];
    expect(startHint({ choice: 'auto', platform: 'linux' }, attempts)).toMatch(
      /docker\.sock takes connections.*restart/,
    );
    expect(startHint({ choice: 'auto', platform: 'linux' }, attempts.toReversed())).toMatch(
      /add yourself to its group/,
    );
  });

  it('is listed by its address, without the default sockets that do not exist', async () => {
    mkdirSync(join(home, '.local/share/containers/podman/machine'), { recursive: true });
    writeFileSync(join(home, '.local/share/containers/podman/machine/podman.sock'), '');
    const options = { choice: 'podman', env: {}, home, platform: 'linux', owner: ownerOf(home) } as const;
    await expect(connectEngine(options)).rejects.toThrow(
      `Looked at:\n  unix://${home}/.local/share/containers/podman/machine/podman.sock: nobody listens`,
    );
  });

  it('is distinguished from an engine that refuses, and from a server with another protocol', async () => {
    const socket = join(home, 's.sock');
    const server = createServer((peer) => peer.resume().end('what?\n')).listen(socket);
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(connect({ DOCKER_HOST: `unix://${socket}` })).rejects.toThrow(/Parse Error|socket hang up/);
    await new Promise((resolve) => server.close(resolve));
    await expect(connect({ DOCKER_HOST: 'tcp://127.0.0.1:9' })).rejects.toThrow(
      'tcp://127.0.0.1:9 (DOCKER_HOST): nobody listens',
    );
  });
});

describe('an error of the engine', () => {
  it.each([
    [{ statusCode: 500, json: { message: 'write /var/x: no space left on device' } }, 'DISK_FULL'],
    [{ statusCode: 404, json: { message: 'No such image: run-claude:1' } }, 'IMAGE_MISSING'],
    [{ code: 'ECONNRESET', message: 'socket hang up' }, 'ENGINE_LOST'],
    [{ statusCode: 409, json: { message: 'name in use' } }, 'ENGINE_REFUSED'],
  ])('%j is %s', (error, code) => {
    expect(engineFailure(error, 'do it')).toMatchObject({ code, status: 125 });
  });
});

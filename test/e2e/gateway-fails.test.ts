import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../support/scene.ts';

const ENGINE = process.env['DOCKER_HOST']?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';

/** Without `Connection: close` the client would send its next request on the connection that ends with this one. */
const FAILURE = 'HTTP/1.1 500 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}';

/** The engine itself, but for one request that it fails. */
async function engineThatFails(socket: string, request: RegExp) {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const engine = connect({ path: ENGINE, allowHalfOpen: true });
    client.on('data', (chunk) => {
      if (request.test(chunk.toString('latin1'))) client.end(FAILURE);
      else engine.write(chunk);
    });
    client.on('end', () => engine.end());
    engine.pipe(client);
    client.on('error', () => engine.destroy());
    engine.on('error', () => client.destroy());
  });
  server.listen(socket);
  await once(server, 'listening');
  return server;
}

it('if the gateway does not start, the program in the agent’s container never runs', async () => {
  await using scene = new Scene();
  const socket = path.join(scene.root, 'engine.sock');
  const words = ['exec', scene.project, '--', 'sh', '-c', 'echo it ran; echo made > made.txt'];
  const env = { DOCKER_HOST: `unix://${socket}` };
  const server = await engineThatFails(socket, /^POST \S*\/containers\/create\?name=run-claude-[^ ]*-gateway\b/);
  try {
    const failed = await scene.run(words, { env });
    expect([failed.status, failed.stdout]).toEqual([125, '']);
    expect(failed.stderr).toContain('could not create the container');
    const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    expect(session.stage).toBe('failed');
    const left = ['ps', '-aq', '--filter', `label=run-claude.session=${session.id}`];
    expect(execFileSync('docker', left, { encoding: 'utf8' })).toBe('');
  } finally {
    server.close();
  }
  // The same words where it starts.
  const well = await engineThatFails(socket, /^POST \S*nothing/);
  try {
    const ran = await scene.run(['exec', '--auto-apply', ...words.slice(1)], { env });
    expect([ran.status, ran.stdout]).toEqual([0, 'it ran\n']);
    expect(existsSync(path.join(scene.project, 'made.txt'))).toBe(true);
  } finally {
    well.close();
  }
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../scene.ts';

const ENGINE = process.env['DOCKER_HOST']?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';

/** The engine itself, but for one request that it fails, or answers, after so long. */
async function engineThatFails(socket: string, request: RegExp, afterMs = 0, how: 'fails' | 'answers' = 'fails') {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const engine = connect({ path: ENGINE, allowHalfOpen: true });
    client.on('data', (chunk) => {
      const fail = () => client.end('HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
      const answer = () => {
        engine.write(chunk);
        client.resume();
      };
      if (request.test(chunk.toString('latin1'))) setTimeout(how === 'fails' ? fail : answer, afterMs);
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

it('a gateway that fails beside a program that has begun: it had no network, is stopped, its work is kept', async () => {
  await using scene = new Scene();
  const socket = path.join(scene.root, 'engine.sock');
  const script = 'echo it ran; echo made > made.txt; ls /sys/class/net; exec sleep 600';
  const env = { DOCKER_HOST: `unix://${socket}` };
  const server = await engineThatFails(socket, /^POST \S*\/networks\/create\b/, 8000);
  try {
    const failed = await scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', script], { env });
    expect([failed.status, failed.stdout]).toEqual([125, 'it ran\nlo\n']);
    expect(failed.stderr).toMatch(/Stopping the agent: .*network/);
    expect(existsSync(path.join(scene.project, 'made.txt'))).toBe(false);
    const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    expect(session.stage).toBe('pending');
    const kept = JSON.parse((await scene.run(['status', '--json'])).stdout);
    expect(kept.changes.map((change: { path: string }) => change.path)).toEqual(['made.txt']);
    const left = ['ps', '-aq', '--filter', `label=run-claude.session=${session.id}`];
    expect(execFileSync('docker', left, { encoding: 'utf8' })).toBe('');
  } finally {
    server.close();
  }
});

it('a program that begins before its gateway is there: its first request waits for it, 13 seconds too', async () => {
  await using scene = new Scene();
  const socket = path.join(scene.root, 'engine.sock');
  const script = "echo it ran; curl -sS -o /dev/null -w '%{http_code}' http://not-allowed.test/";
  const server = await engineThatFails(socket, /^POST \S*\/networks\/create\b/, 13_000, 'answers');
  try {
    const env = { DOCKER_HOST: `unix://${socket}` };
    const ran = await scene.run(['exec', scene.project, '--', 'sh', '-c', script], { env });
    expect([ran.status, ran.stdout], ran.stderr).toEqual([0, 'it ran\n403']);
  } finally {
    server.close();
  }
});

it('a gateway that does not start: the agent’s container is there side by side, its program never runs', async () => {
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

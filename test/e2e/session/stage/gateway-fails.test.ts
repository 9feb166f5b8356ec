import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const ENGINE = process.env['DOCKER_HOST']?.replace(/^unix:\/\//, '') ?? '/var/run/docker.sock';

/** Without `Connection: close` the client would send its next request on the connection that ends with this one. */
const FAILURE = 'HTTP/1.1 500 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}';

const CREATE = /^POST \S*\/containers\/create\?name=run-claude-[^ ]*-gateway\b/;

interface Middleman {
  /** The engine fails the creation of the gateway's container. */
  readonly failCreate?: boolean;
  /** The start of the gateway's container waits for this. The engine fails it where that is rejected. */
  readonly beforeStart?: () => Promise<void>;
}

/** The engine itself at another socket, with a user's requests about the gateway's container failed or delayed. */
async function engineBetween(socket: string, { failCreate = false, beforeStart }: Middleman) {
  let start = /^(?!)/;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const engine = connect({ path: ENGINE, allowHalfOpen: true });
    let isCreating = false;
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      isCreating = CREATE.test(text);
      if (isCreating && failCreate) client.end(FAILURE);
      else if (start.test(text) && beforeStart !== undefined)
        beforeStart().then(
          () => engine.write(chunk),
          () => client.end(FAILURE),
        );
      else engine.write(chunk);
    });
    engine.on('data', (chunk) => {
      const made = isCreating ? /"Id":"([0-9a-f]{64})"/.exec(chunk.toString('latin1')) : null;
      if (made !== null) start = new RegExp(`^POST \\S*/containers/${made[1]}/start`);
    });
    client.on('end', () => engine.end());
    engine.pipe(client);
    client.on('error', () => engine.destroy());
    engine.on('error', () => client.destroy());
  });
  server.listen(socket);
  await once(server, 'listening');
  return { env: { DOCKER_HOST: `unix://${socket}` }, [Symbol.asyncDispose]: async () => void server.close() };
}

/** What is left of the most recent session. */
async function lastSession(scene: Scene): Promise<{ id: string; stage: string; containers: string }> {
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  const left = ['ps', '-aq', '--filter', `label=run-claude.session=${session.id}`];
  return { ...session, containers: execFileSync('docker', left, { encoding: 'utf8' }) };
}

const WORDS = ['sh', '-c', 'echo it ran; echo made > made.txt'];

it('if the gateway’s container cannot be made, the program in the agent’s container never runs', async () => {
  await using scene = new Scene();
  {
    await using engine = await engineBetween(path.join(scene.root, 'a.sock'), { failCreate: true });
    const report = path.join(scene.root, 'report.json');
    const words = ['exec', '--report', report, scene.project, '--', ...WORDS];
    const failed = await scene.run(words, { env: engine.env });
    expect([failed.status, failed.stdout]).toEqual([125, '']);
    const [, code] = /ERROR ([A-Z_]+): .*could not create the container/.exec(failed.stderr) ?? [];
    const session = await lastSession(scene);
    const failure = { code, message: expect.stringContaining('could not create the container') };
    expect(session).toMatchObject({ stage: 'failed', containers: '', failure });
    // The next morning: each command says why, and that there is nothing to take.
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
      exitStatus: 125,
      changes: [],
      session: { failure },
    });
    const status = await scene.run(['status', session.id]);
    const reason = `failed at its start (${code}: `;
    expect([status.status, status.stdout]).toEqual([0, expect.stringContaining(`no changes: it ${reason}`)]);
    expect((await scene.run(['sessions'])).stdout).toContain(`  ${reason}`);
    for (const command of ['diff', 'apply', 'explore', 'resume', 'commits', 'export']) {
      const { status: ended, stderr } = await scene.run([
        command,
        session.id,
        ...(command === 'export' ? ['changes.rcc'] : []),
      ]);
      const said = `ERROR SESSION_FAILED: session ${session.id} has no changes: it ${reason}`;
      expect([command, ended, stderr]).toEqual([command, 125, expect.stringContaining(said)]);
    }
    expect((await scene.run(['discard', '--yes', session.id])).status).toBe(0);
  }
  // The same words where it starts.
  await using engine = await engineBetween(path.join(scene.root, 'b.sock'), {});
  const ran = await scene.run(['exec', '--auto-apply', '--', ...WORDS], { env: engine.env });
  expect([ran.status, ran.stdout]).toEqual([0, 'it ran\n']);
  expect(existsSync(path.join(scene.project, 'made.txt'))).toBe(true);
});

it('the program starts while the gateway does, and its first connection waits for the gateway', async () => {
  await using scene = new Scene();
  const heldMs = 1500;
  const beforeStart = () => new Promise<void>((done) => setTimeout(done, heldMs));
  await using engine = await engineBetween(path.join(scene.root, 'engine.sock'), { beforeStart });
  const ask = 'curl -s -o /dev/null -w "%{http_connect}\\n" --max-time 30 https://not-allowed.example.org';
  const script = `date +%s%3N; ${ask}; date +%s%3N`;
  const ran = await scene.run(['exec', '--', 'sh', '-c', script], { env: engine.env });
  const [began, connect, answered] = ran.stdout.trim().split('\n').map(Number);
  // The gateway's own answer: it refuses the host.
  expect(connect).toBe(403);
  expect(Number(answered) - Number(began)).toBeGreaterThan(heldMs / 2);
});

it('if the gateway fails while the program runs already, the program is ended and its changes are kept', async () => {
  await using scene = new Scene();
  const beforeStart = async () => {
    await new Promise((done) => setTimeout(done, 3000));
    throw new Error('the engine fails it');
  };
  await using engine = await engineBetween(path.join(scene.root, 'engine.sock'), { beforeStart });
  const began = Date.now();
  const words = ['exec', '--auto-apply', '--', 'sh', '-c', `${WORDS[2]}; sleep 60`];
  const failed = await scene.run(words, { env: engine.env });
  expect(Date.now() - began).toBeLessThan(40_000);
  expect([failed.status, failed.stdout]).toEqual([125, 'it ran\n']);
  expect(failed.stderr).toMatch(/Stopping the agent: .*could not start the container/);
  expect(failed.stderr).toMatch(/ERROR [A-Z_]+: .*could not start the container[^\n]*\n[^\n]*$/);
  // Nothing is applied of a session that was ended from outside.
  expect(existsSync(path.join(scene.project, 'made.txt'))).toBe(false);
  const { id, stage, containers } = await lastSession(scene);
  expect([stage, containers]).toEqual(['pending', '']);
  const applied = await scene.run(['apply', id, '--yes']);
  expect([applied.status, existsSync(path.join(scene.project, 'made.txt'))]).toEqual([0, true]);
});

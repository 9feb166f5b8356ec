import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { getPage as get } from '../../../support/get-page.ts';
import { listenOn } from '../../../support/preview-scene.ts';
import { mainJs, Scene } from '../../../support/scene.ts';

const SERVER = `
  const http = require('node:http');
  http.createServer((asked, response) => response.end('inside ' + asked.url + ' ' + (asked.headers.cookie ?? 'no cookie')))
    .listen(3000, 'localhost');
`;

interface Page {
  readonly port: number;
  readonly hostPort: number;
  readonly url: string;
}

it('shows a page of a running session, lets it use a service of this machine, and opens a shell in it', async () => {
  await using scene = new Scene();
  const service = createServer((socket) => void socket.on('error', () => undefined).end('from this machine'));
  const servicePort = await listenOn(service);
  try {
    const up = await scene.run(['up', '--json', '--allow-local', `${servicePort}:db`]);
    expect(up.stderr).toContain(`services of your machine that the agent can use: ${servicePort}:db`);
    const { id } = JSON.parse(up.stdout) as { id: string };
    const exec = ['exec', '--session', id, '--'];
    const words = [mainJs, ...exec, 'node', '-e', SERVER];
    const server = spawn(process.execPath, words, { cwd: scene.project, env: scene.env, stdio: 'ignore' });

    expect((await scene.run(['ports', id])).stdout).toBe('');
    const asked = await scene.run(['ports', id, '3000', '--json']);
    expect(asked.stderr).toBe('');
    const [page] = JSON.parse(asked.stdout) as [Page];
    expect(page.url).toMatch(new RegExp(`^http://${id}\\.localhost:${page.hostPort}/\\?run-claude-token=`));
    expect(JSON.parse((await scene.run(['ports', id, '--json'])).stdout)).toEqual([page]);

    const first = await get(page.url);
    expect(first.status).toBe(303);
    const { origin } = new URL(page.url);
    await expect
      .poll(async () => (await get(`${origin}/a`, { Cookie: first.cookie })).text, { timeout: 30_000 })
      .toBe('inside /a no cookie');
    expect((await get(`${origin}/a`)).status).toBe(403);
    expect((await get(`${origin}/a`, { Cookie: first.cookie, Host: `127.0.0.1:${page.hostPort}` })).status).toBe(421);

    const taken = await scene.run(['ports', id, `3001:${servicePort}`]);
    expect(taken.stderr).toContain(`port ${servicePort} of this machine cannot be opened: another program uses it`);
    expect(taken.status).toBe(125);

    const script = `process.stdout.write; require('node:net').connect(${servicePort}, 'db').pipe(process.stdout)`;
    expect((await scene.run([...exec, 'node', '-e', script])).stdout).toBe('from this machine');
    const log = (await scene.run(['network', id])).stdout;
    expect(log).toMatch(new RegExp(`^${id}\\.localhost:3000 {2}\\d+ passed, 2 refused`, 'm'));
    expect(log).toMatch(new RegExp(`^127\\.0\\.0\\.1:${servicePort} {2}1 passed`, 'm'));

    await using pty = scene.pty(['shell', id]);
    await pty.see(/\$ /);
    pty.send('echo in $PWD, RUN_CLAUDE=$RUN_CLAUDE\r');
    await pty.see(/in \/workspace, RUN_CLAUDE=1/);
    pty.send('exit\r');
    expect(await pty.exited).toBe(0);
    server.kill('SIGKILL');

    expect((await scene.run(['down', id])).status).toBe(0);
    await expect(get(page.url)).rejects.toThrow(/ECONNREFUSED/);
    expect((await scene.run(['ports', id])).status).toBe(125);
  } finally {
    service.close();
  }
});

it('starts no session on a port of this machine that is taken, and none without a gateway', async () => {
  await using scene = new Scene();
  const other = createServer();
  const port = await listenOn(other);
  try {
    const taken = await scene.run(['exec', '--port', `3000:${port}`, '--', 'touch', 'ran']);
    expect(taken.stderr).toContain(`port ${port} of this machine cannot be opened: another program uses it`);
    expect(taken.status).toBe(125);
    const none = await scene.run(['exec', '--network', 'none', '--port', '3000', '--', 'true']);
    expect(none.stderr).toContain('--port: not with --network none');
    expect(none.status).toBe(2);
    scene.write('.run-claude.toml', 'port = ["3000"]\nallow-local = ["5432"]\n');
    const asked = await scene.run(['config']);
    expect(asked.stderr).toMatch(/port = \["3000"\] cannot be set by a project; ignored/);
    expect(asked.stderr).toMatch(/allow-local = \["5432"\] cannot be set by a project; ignored/);
  } finally {
    other.close();
  }
});

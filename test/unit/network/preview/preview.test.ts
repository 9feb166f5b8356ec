import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openPreviews } from '../../../../src/network/preview/open-previews.ts';
import { askForPort, readOpenPorts } from '../../../../src/network/preview/port-files.ts';
import { listenOn, PreviewScene } from '../../../support/preview-scene.ts';

// The user's browser, this machine's port, the gateway, the forwarder, and a program on loopback that is the agent's.

let scene: PreviewScene;
let web: number;
let hostile: number;
/** Nothing listens there. */
const silent = 1;
let mute: number;
let ipv6: number;
const servers: Server[] = [];
const seen: { url: string; headers: Record<string, unknown> }[] = [];
/** What the hostile program answers, by path. */
const ANSWERS: Record<string, string> = {
  '/split': 'HTTP/1.1 200 OK\r\nX-A: 1\rSet-Cookie: run-claude-token=x\r\nContent-Length: 2\r\n\r\nhi',
  '/header': 'HTTP/1.1 200 OK\r\nBad Name: 1\r\nContent-Length: 2\r\n\r\nhi',
  '/early': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort',
  '/two': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond',
  '/upgrade': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  '/garbage': '\0\0\0 not HTTP',
};

function listen(server: Server, host?: string): Promise<number> {
  servers.push(server);
  return listenOn(server, host);
}

beforeAll(async () => {
  const page = createHttpServer((asked, response) => {
    seen.push({ url: asked.url ?? '', headers: asked.headers });
    if (asked.url === '/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: first\n\n');
      return;
    }
    if (asked.url === '/big') {
      response.end(Buffer.alloc(8 * 1024 * 1024, 'x'));
      return;
    }
    if (asked.url === '/never') return;
    let body = '';
    asked.on('data', (bytes: Buffer) => (body += bytes.toString()));
    asked.on('end', () => {
      response.setHeader('Set-Cookie', ['session=1; Domain=localhost', 'run-claude-token=stolen']);
      response.end(`page ${asked.method} ${body}`);
    });
  });
  page.on('upgrade', (asked, socket: Socket) => {
    const key = `${asked.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`;
    socket.write(`${head}Sec-WebSocket-Accept: ${accept}\r\n\r\nhello `);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  web = await listen(page);
  hostile = await listen(
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        const url = head.toString().split(' ')[1] ?? '';
        if (url === '/endless') {
          socket.write('HTTP/1.1 200 OK\r\n');
          const more = () => {
            while (!socket.destroyed && socket.write(`X-${'y'.repeat(1000)}: z\r\n`)) {}
          };
          socket.on('drain', more);
          more();
        } else socket.end(ANSWERS[url] ?? '');
      });
    }),
  );
  mute = await listen(createServer((socket) => void socket.on('error', () => undefined)));
  ipv6 = await listen(
    createHttpServer((_, response) => response.end('on ::1')),
    '::1',
  );
  scene = await PreviewScene.start([web, hostile, silent, mute, ipv6]);
});

afterAll(async () => {
  await scene?.[Symbol.asyncDispose]();
  for (const server of servers) server.close();
});

describe('a page of the session', () => {
  it('is reached with the address that is printed, and gets a cookie in its place', async () => {
    const [url = ''] = scene.told.map((text) => text.split(': ')[1]);
    const { pathname, search, host } = new URL(url);
    const first = await scene.get(web, pathname + search, { Host: host });
    expect(first.status).toBe(303);
    expect(first.headers['location']).toBe(`http://${host}/`);
    const [cookie = ''] = String(first.headers['set-cookie']).split(';');
    const page = await scene.get(web, '/', { Host: host, Cookie: cookie });
    expect(page.text).toBe('page GET ');
    expect(page.headers['set-cookie']).toEqual(['session=1']);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  });

  it('never sees the token', async () => {
    await scene.get(web, '/look', { ...scene.own(web), Cookie: `a=1; run-claude-token=${scene.token}` });
    const last = seen.at(-1);
    expect(last?.url).toBe('/look');
    expect(last?.headers['cookie']).toBe('a=1');
    expect(JSON.stringify(seen)).not.toContain(scene.token);
  });

  it('gets a body of any length', async () => {
    const body = 'x'.repeat(300_000);
    const sent = { method: 'POST', headers: scene.own(web), port: scene.hostPort(web), agent: false };
    const text = await new Promise<string>((resolve) => {
      const asked = request({ ...sent, host: '127.0.0.1', path: '/form' }, (response) => {
        let all = '';
        response.on('data', (bytes: Buffer) => (all += bytes.toString())).on('end', () => resolve(all));
      });
      asked.write(body.slice(0, 10));
      asked.end(body.slice(10));
    });
    expect(text).toBe(`page POST ${body}`);
  });

  it('sends more than a window of bytes', async () => {
    expect((await scene.get(web, '/big')).text.length).toBe(8 * 1024 * 1024);
  });

  it('sends events as they happen', async () => {
    const { Host, Cookie } = scene.own(web);
    const head = `GET /events HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\n\r\n`;
    expect(await scene.say(web, head, /data: first/)).toMatch(/^HTTP\/1.1 200 OK/);
  });

  it('speaks over a WebSocket', async () => {
    const { Host, Cookie } = scene.own(web);
    const origin = `Origin: http://${Host}\r\nSec-Fetch-Site: same-origin`;
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const head = `GET /ws HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\n${origin}\r\n${upgrade}\r\n\r\necho me`;
    const said = await scene.say(web, head, /echo me/);
    expect(said).toMatch(/^HTTP\/1.1 101 /);
    expect(said).toMatch(/sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i);
    expect(said).toMatch(/\r\n\r\nhello echo me$/);
  });

  it('is found on both addresses of loopback, as browsers look for it', async () => {
    expect((await scene.get(web, '/', scene.own(web), '::1')).status).toBe(200);
  });

  it('may be a program that listens on ::1 alone', async () => {
    expect((await scene.get(ipv6)).text).toBe('on ::1');
  });

  it('is named when nothing listens there', async () => {
    const answer = await scene.get(silent);
    expect(answer.status).toBe(502);
    expect(answer.text).toBe(`Port ${silent} of the session: nothing listens on this port inside.\n`);
  });
});

describe('another page or program of this machine', () => {
  it.each([
    ['without a token', (own: Record<string, string>) => ({ Host: own['Host'] ?? '' }), 403],
    ['with another host name', (own: Record<string, string>) => ({ ...own, Host: '127.0.0.1:3000' }), 421],
    ['from another site', (own: Record<string, string>) => ({ ...own, 'Sec-Fetch-Site': 'cross-site' }), 403],
    ['from another session', (own: Record<string, string>) => ({ ...own, Origin: 'http://b.localhost:3000' }), 403],
  ])('does not reach the session %s', async (_how, headers, status) => {
    const before = seen.length;
    const answer = await scene.get(web, '/secret', headers(scene.own(web)));
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain(scene.id);
    expect(answer.text).not.toContain(scene.token);
    expect(seen).toHaveLength(before);
    expect(scene.entries.at(-1)).toMatchObject({ kind: 'preview', verdict: 'refused', port: web, status });
  });

  it('reads no page as another user of this machine, whose program got the token on another port', async () => {
    const { Host, Cookie } = scene.own(web);
    const words = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', `Host: ${Host}`, '-H', `Cookie: ${Cookie}`];
    // Only root can start a program as another user.
    const isRoot = process.getuid?.() === 0;
    const user = isRoot ? { uid: 65_534, cwd: '/' } : {};
    const url = `http://127.0.0.1:${scene.hostPort(web)}/secret`;
    const { stdout } = await promisify(execFile)('curl', [...words, url], user);
    expect(stdout).toBe(isRoot ? '403' : '200');
  });

  it('opens no WebSocket from another site', async () => {
    const { Host, Cookie } = scene.own(web);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const head = `GET /ws HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\nOrigin: http://evil.example\r\n${upgrade}\r\n\r\n`;
    expect(await scene.say(web, head)).toMatch(/^HTTP\/1.1 403 /);
  });

  it("reads no other session's page with its own token", async () => {
    await using other = await PreviewScene.start([web], { id: '261121-140512-zzz' });
    const stolen = { ...other.own(web), Cookie: `run-claude-token=${scene.token}` };
    expect((await other.get(web, '/', stolen)).status).toBe(403);
    expect((await other.get(web)).status).toBe(200);
  });

  it('reaches no port of the session that the user did not name', async () => {
    const { Host, Cookie } = scene.own(web);
    const targets = [`http://127.0.0.1:${ipv6}/`, `//127.0.0.1:${ipv6}/`, `/http://[::1]:${ipv6}/`];
    for (const target of targets) {
      const said = await scene.say(
        web,
        `GET ${target} HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\nConnection: close\r\n\r\n`,
      );
      expect(said).not.toContain('on ::1');
    }
    expect(await scene.say(web, `CONNECT 127.0.0.1:${ipv6} HTTP/1.1\r\nHost: ${Host}\r\n\r\n`)).not.toMatch(/ 200 /);
  });
});

describe('a hostile program of the session', () => {
  it.each([
    ['splits a header', '/split'],
    ['sends a header that is none', '/header'],
    ['sends no HTTP', '/garbage'],
    ['closes without an answer', '/nothing'],
    ['upgrades what was not to be upgraded', '/upgrade'],
    ['sends headers without an end', '/endless'],
  ])('%s: the browser gets a plain page', async (_what, target) => {
    const answer = await scene.get(hostile, target);
    expect(answer.status).toBe(502);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('ends the answer early: the browser sees that it is not whole', async () => {
    await expect(scene.get(hostile, '/early')).rejects.toThrow(/aborted|hang up/);
  });

  it('sends two answers to one request: the second reaches nobody', async () => {
    const { Host, Cookie } = scene.own(hostile);
    const head = `GET /two HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\nConnection: close\r\n\r\n`;
    const said = await scene.say(hostile, head);
    expect(said).toMatch(/hi$/);
    expect(said).not.toContain('second');
  });

  it('never answers: the browser can leave, and others are served', async () => {
    const { Host, Cookie } = scene.own(mute);
    const sockets = Array.from({ length: 40 }, () =>
      scene.say(mute, `GET / HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\n\r\n`),
    );
    expect((await scene.get(web)).status).toBe(200);
    expect(scene.entries.filter(({ port }) => port === mute)).toHaveLength(0);
    void sockets;
  });
});

describe('a connection', () => {
  const unfinished = (port: number, target: string): string => {
    const { Host, Cookie } = scene.own(port);
    return `POST ${target} HTTP/1.1\r\nHost: ${Host}\r\nCookie: ${Cookie}\r\nContent-Length: 9000000\r\n\r\nfirst`;
  };

  it.each([
    ['nothing listens', () => silent, '/', / 502 /],
    ['the program answers early', () => hostile, '/two', /hi$/],
  ])('ends after the answer where %s, though the request goes on', async (_what, port, target, answer) => {
    expect(await scene.say(port(), unfinished(port(), target))).toMatch(answer);
  });

  it('ends after a refusal, though the request goes on', async () => {
    const { Host } = scene.own(web);
    const head = `POST / HTTP/1.1\r\nHost: ${Host}\r\nContent-Length: 9000000\r\n\r\nfirst`;
    expect(await scene.say(web, head)).toMatch(/ 403 [\s\S]*\r\nConnection: close\r\n/);
  });

  it('ends after a refused upgrade, though the other side keeps its half open', async () => {
    const { Host } = scene.own(web);
    const socket = connect({ port: scene.hostPort(web), host: '127.0.0.1', allowHalfOpen: true });
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(`GET /ws HTTP/1.1\r\nHost: ${Host}\r\n${upgrade}\r\n\r\n`);
    const timer = setInterval(() => socket.write('more'), 50);
    socket.resume().on('error', () => undefined);
    await new Promise((closed) => socket.once('close', closed));
    clearInterval(timer);
  });

  it('is served where the network log cannot be written', async () => {
    const push = vi.spyOn(scene.entries, 'push').mockImplementation(() => {
      throw new Error('ENOSPC');
    });
    try {
      expect((await scene.get(web)).status).toBe(200);
      expect((await scene.get(web, '/', { Host: scene.own(web)['Host'] ?? '' })).status).toBe(403);
      await expect.poll(() => scene.traced.length).toBeGreaterThan(1);
      expect(scene.traced.join()).toContain('ENOSPC');
    } finally {
      push.mockRestore();
    }
  });
});

it('logs each request with its bytes', async () => {
  scene.entries.length = 0;
  await scene.get(web, '/logged');
  await expect.poll(() => scene.entries.length).toBe(1);
  const [entry] = scene.entries;
  expect(entry).toMatchObject({
    kind: 'preview',
    verdict: 'passed',
    host: scene.host,
    port: web,
    method: 'GET',
    status: 200,
  });
  expect(entry?.up).toBeGreaterThan(50);
  expect(entry?.down).toBeGreaterThan(50);
});

it('opens a port that is asked for later, and says why where it cannot', async () => {
  const late = await listen(createHttpServer((_, response) => response.end('late')));
  const asked = askForPort(scene.dir, String(late));
  await expect.poll(() => readOpenPorts(scene.dir).some((one) => one.asked?.includes(asked))).toBe(true);
  expect((await scene.get(late)).text).toBe('late');
  const taken = askForPort(scene.dir, `9:${web}`);
  await expect
    .poll(() => readOpenPorts(scene.dir).find((one) => one.asked?.includes(taken))?.error)
    .toMatch(/another program uses it/);
  const wrong = askForPort(scene.dir, 'x; rm');
  await expect
    .poll(() => readOpenPorts(scene.dir).find((one) => one.asked?.includes(wrong))?.error)
    .toMatch(/not a port/);
});

it('answers each of many requests at once, also for the same port', async () => {
  const words = ['9', '9', `11:${web}`, `11:${web}`, '12', '12', '9'];
  const asked = words.map((one) => askForPort(scene.dir, one));
  const answerTo = (id: string) => readOpenPorts(scene.dir).find((one) => one.asked?.includes(id));
  await expect.poll(() => asked.every((id) => answerTo(id) !== undefined)).toBe(true);
  expect(asked.map((id) => answerTo(id)?.port)).toEqual([9, 9, 11, 11, 12, 12, 9]);
  expect(asked.map((id) => answerTo(id)?.error !== undefined)).toEqual([
    ...[false, false, true, true],
    ...[false, false, false],
  ]);
  expect(readdirSync(path.join(scene.dir, 'ports-asked'))).toEqual([]);
});

it('answers a request after its files could not be written for a time', async () => {
  const file = path.join(scene.dir, 'ports.json');
  const before = readFileSync(file);
  rmSync(file);
  mkdirSync(path.join(file, 'x'), { recursive: true });
  scene.traced.length = 0;
  const asked = askForPort(scene.dir, '13');
  await expect.poll(() => scene.traced.length).toBeGreaterThan(0);
  rmSync(file, { recursive: true });
  writeFileSync(file, before);
  await expect.poll(() => readOpenPorts(scene.dir).some((one) => one.asked?.includes(asked))).toBe(true);
});

it('refuses to start where the port that was named is taken, and takes a free one where none was', async () => {
  const options = { ...OPTIONS, sessionDir: scene.dir };
  await expect(openPreviews({ ...options, ports: [`1:${web}`] })).rejects.toThrow(/another program uses it/);
});

const OPTIONS = {
  sessionId: '261121-140512-yyy',
  allowedHosts: [],
  openPort: () => undefined,
  log: () => undefined,
  tell: () => undefined,
};

import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect, it } from 'vitest';
import { getPage } from '../../../support/get-page.ts';
import { hostileServer, type PageReport } from '../../../support/hostile-page.ts';
import { listenOn } from '../../../support/preview-scene.ts';
import { mainJs, Scene } from '../../../support/scene.ts';

const PORT = 3000;
const WAIT_MS = 120_000;

/** Chromium of the session's image on this machine's own network, as the user's browser. It has no tab yet. */
class Browser implements AsyncDisposable {
  readonly #name = `run-claude-test-browser-${process.pid}`;
  readonly #debugging: string;

  private constructor(debugging: string) {
    this.#debugging = debugging;
  }

  static async start(image: string): Promise<Browser> {
    const free = createServer();
    const port = await listenOn(free);
    await new Promise((done) => free.close(done));
    const browser = new Browser(`http://127.0.0.1:${port}`);
    const how = ['--detach', '--rm', '--network', 'host', '--user', '1000:1000', '--shm-size', '256m'];
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--user-data-dir=/tmp/profile'];
    const entry = ['--env', 'HOME=/tmp', '--entrypoint', 'chromium', image];
    const words = [...how, '--name', browser.#name, ...entry, ...flags, `--remote-debugging-port=${port}`];
    execFileSync('docker', ['run', ...words, 'about:blank']);
    const isReady = async (): Promise<boolean> =>
      fetch(`${browser.#debugging}/json/version`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isReady, { timeout: WAIT_MS }).toBe(true);
    return browser;
  }

  /** Its own port on loopback, which a page of it might use too. */
  get address(): string {
    return this.#debugging;
  }

  async openTab(url: string): Promise<void> {
    const { ok } = await fetch(`${this.#debugging}/json/new?${encodeURIComponent(url)}`, { method: 'PUT' });
    expect(ok).toBe(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    execFileSync('docker', ['rm', '--force', this.#name], { stdio: 'ignore' });
  }
}

/** A session with a page on {@link PORT}; `origin` is where the browser sees it. */
async function sessionWithPage(scene: Scene, ...more: string[]) {
  const up = await scene.run(['up', '--json', '--port', String(PORT), ...more]);
  const { id } = JSON.parse(up.stdout) as { id: string };
  const [page] = JSON.parse((await scene.run(['ports', id, '--json'])).stdout) as [{ url: string; hostPort: number }];
  const record = readFileSync(path.join(scene.places().stateDir, 'sessions', id, 'session.json'), 'utf8');
  const { plan } = JSON.parse(record) as { plan: { image: string } };
  return { id, url: page.url, hostPort: page.hostPort, origin: new URL(page.url).origin, image: plan.image };
}

/** The JSON that a server's path has, with the token where it is a preview; undefined while there is nothing. */
async function readJson<T>(origin: string, where: string, tokenUrl?: string): Promise<T | undefined> {
  const cookie = tokenUrl === undefined ? '' : (await getPage(tokenUrl)).cookie;
  const { status, text } = await getPage(`${origin}${where}`, cookie === '' ? {} : { Cookie: cookie });
  return status === 200 && text !== '' ? (JSON.parse(text) as T) : undefined;
}

it("a real browser shows the page with WebSockets and events, and keeps it from other programs' ports and other pages' cookies", async () => {
  await using scene = new Scene();
  await using neighbour = new Scene();
  const hits: string[] = [];
  const victim = createServer((asked, response) => {
    hits.push(asked.url ?? '');
    response.end('a program of this machine');
  });
  victim.on('upgrade', (asked, socket) => {
    hits.push(asked.url ?? '');
    socket.destroy();
  });
  const address = `http://127.0.0.1:${await listenOn(victim)}`;
  const free = createServer();
  const plainPort = await listenOn(free);
  await new Promise((done) => free.close(done));

  const page = await sessionWithPage(scene, '--with', 'browser');
  const other = await sessionWithPage(neighbour);
  await using browser = await Browser.start(page.image);
  const scanned = [address, other.origin, `http://127.0.0.1:${page.hostPort}`, browser.address];
  const serve = (where: Scene, id: string, program: string) =>
    spawn(process.execPath, [mainJs, 'exec', '--session', id, '--', 'node', '-e', program], {
      cwd: where.project,
      env: where.env,
      stdio: 'ignore',
    });
  const servers = [
    serve(neighbour, other.id, hostileServer(PORT, 'other', { scanned: [] })),
    serve(scene, page.id, hostileServer(PORT, 'page', { scanned })),
    // The same page without run-claude between it and the browser.
    spawn(process.execPath, ['-e', hostileServer(plainPort, 'plain', { scanned })], { stdio: 'ignore' }),
  ];
  const plainOrigin = `http://localhost:${plainPort}`;
  try {
    const reportOf = async (origin: string, url: string, token?: string): Promise<PageReport> => {
      await expect
        .poll(
          () =>
            getPage(`${origin}/cookies`).then(
              ({ status }) => status > 0,
              () => false,
            ),
          { timeout: WAIT_MS },
        )
        .toBe(true);
      if (token !== undefined)
        await expect.poll(() => readJson(origin, '/cookies', token), { timeout: WAIT_MS }).toBeDefined();
      await browser.openTab(url);
      await expect.poll(() => readJson(origin, '/report', token), { timeout: WAIT_MS }).toBeDefined();
      return (await readJson<PageReport>(origin, '/report', token)) as PageReport;
    };
    const working = { socket: 'hello', events: 'first second' };
    expect(await reportOf(other.origin, other.url, other.url)).toMatchObject({ ...working, reached: [] });

    const found = await reportOf(page.origin, page.url, page.url);
    expect(found).toMatchObject({ ...working, reached: [] });
    // Its own cookies, also the one that was to be for every local page; not the token, and none of the other session's.
    const names = found.cookies.split('; ').map((cookie) => cookie.split('=')[0]);
    expect(names.sort()).toEqual(['own-page', 'script-page', 'wide-page']);
    expect(hits).toEqual([]);

    const plain = await reportOf(plainOrigin, plainOrigin);
    expect(plain).toMatchObject(working);
    expect(plain.cookies).not.toMatch(/-(page|other)=|token/);
    // Without the guards the same requests arrive.
    const kinds = ['beacon', 'events', 'fetch', 'form', 'frame', 'image', 'script', 'socket', 'style'];
    const arrived = (): string[] => [...new Set(hits)].sort();
    await expect.poll(arrived, { timeout: WAIT_MS }).toEqual(kinds.map((kind) => `/from-plain/${kind}`));
    expect(plain.reached).toContain(`fetch ${address}`);
    for (const [origin, token, own] of [
      [other.origin, other.url, 'other'],
      [page.origin, page.url, 'page'],
    ] as const) {
      const sent = (await readJson<string[]>(origin, '/cookies', token)) ?? [];
      expect(sent.length).toBeGreaterThan(2);
      for (const cookies of sent) expect(cookies).toMatch(new RegExp(`^([\\w-]+-${own}=1(; |$))*$`));
    }
    const log = (await scene.run(['network', page.id])).stdout;
    expect(log).toContain(`${page.id}.localhost:${PORT}`);
  } finally {
    for (const server of servers) server.kill('SIGKILL');
    victim.closeAllConnections();
    victim.close();
    await scene.run(['down', page.id]);
    await neighbour.run(['down', other.id]);
  }
});

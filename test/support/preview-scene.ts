import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NetworkEntry } from '../../src/core/types/gateway.ts';
import { openPreviews, type Previews } from '../../src/network/preview/open-previews.ts';
import { readOpenPorts } from '../../src/network/preview/port-files.ts';
import { GatewayProcess } from './gateway-process.ts';
import { packageRoot } from './scene.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

/** The pages of a session, from this machine's port over a real gateway and forwarder to programs on loopback. */
export class PreviewScene implements AsyncDisposable {
  readonly id: string;
  readonly dir: string;
  readonly gateway: GatewayProcess;
  readonly entries: NetworkEntry[] = [];
  readonly told: string[] = [];
  readonly traced: string[] = [];
  previews: Previews | undefined;
  readonly #forwarder: ReturnType<typeof spawn> | undefined;

  private constructor(id: string, dir: string, gateway: GatewayProcess, forwarder: PreviewScene['forwarder']) {
    this.id = id;
    this.dir = dir;
    this.gateway = gateway;
    this.#forwarder = forwarder;
  }

  get forwarder(): ReturnType<typeof spawn> | undefined {
    return this.#forwarder;
  }

  /** `isForwarded`: false for a session whose forwarder does not run. */
  static async start(
    ports: readonly number[],
    { id = '261121-140512-k7p', isForwarded = true } = {},
  ): Promise<PreviewScene> {
    const gateway = await GatewayProcess.start({ config: {} });
    const forwarder = isForwarded
      ? spawn(compileForwarder(), [`from=${gateway.dir}/ports.sock`], { stdio: 'ignore' })
      : undefined;
    const scene = new PreviewScene(id, mkdtempSync(path.join(tmpdir(), 'run-claude-ports-')), gateway, forwarder);
    scene.previews = await openPreviews({
      sessionId: id,
      sessionDir: scene.dir,
      ports: ports.map((port) => String(port)),
      allowedHosts: [],
      openPort: (port) => gateway.kept.openPort(port),
      log: (entry) => scene.entries.push(entry),
      tell: (event) => {
        if (event.kind === 'message') scene.told.push(event.text);
        if (event.kind === 'trace') scene.traced.push(event.text);
      },
    });
    return scene;
  }

  get host(): string {
    return `${this.id}.localhost`;
  }

  get token(): string {
    const url = new URL(readOpenPorts(this.dir)[0]?.url ?? 'http://none');
    return url.searchParams.get('run-claude-token') ?? '';
  }

  hostPort(port: number): number {
    return readOpenPorts(this.dir).find((one) => one.port === port)?.hostPort ?? 0;
  }

  /** What a browser that has the token sends. */
  own(port: number): Record<string, string> {
    return { Host: `${this.host}:${this.hostPort(port)}`, Cookie: `run-claude-token=${this.token}` };
  }

  get(
    port: number,
    target = '/',
    headers: Record<string, string> = this.own(port),
    address = '127.0.0.1',
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: address, port: this.hostPort(port), path: target, headers, agent: false },
        (response) => {
          let text = '';
          response.on('data', (bytes: Buffer) => (text += bytes.toString()));
          response.on('error', reject);
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        },
      );
      asked.on('error', reject);
      asked.end();
    });
  }

  /** Bytes to the port as they are, and what comes back until the end or a match. */
  say(port: number, bytes: string, until?: RegExp): Promise<string> {
    return new Promise((resolve) => {
      const socket: Socket = connect(this.hostPort(port), '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (until?.test(text)) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      socket.write(bytes);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.previews?.close();
    this.#forwarder?.kill('SIGKILL');
    await this.gateway[Symbol.asyncDispose]();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

let compiled: string | undefined;

/** The forwarder of the image as a program of this machine. */
export function compileForwarder(): string {
  if (compiled !== undefined) return compiled;
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'run-claude-forwarder-')), 'forwarder');
  const source = path.join(packageRoot, 'images/forwarder/forwarder.c');
  execFileSync('cc', ['-O1', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-o', file, source]);
  compiled = file;
  return file;
}

/** Starts a server on loopback. Returns its port. */
export async function listenOn(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((done) => void server.listen(0, host, done));
  return (server.address() as AddressInfo).port;
}

import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (request: SeenRequest) => { readonly status?: number; readonly body: unknown } | undefined;

/** A platform on loopback: its API answers from a function, and git fetches from a repository of the test's. */
export class PlatformStandIn implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #answer: Answer;
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;

  /** `root`: folder above the repositories that git fetches from. */
  constructor(answer: Answer, root: string, env: NodeJS.ProcessEnv) {
    this.#answer = answer;
    this.#root = root;
    this.#env = env;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url = '', headers } = request;
    this.seen.push({ method, path: url, headers, body: url.startsWith('/api/') ? body.toString() : '' });
    if (url.startsWith('/api/')) {
      const answer = this.#answer({ method, path: url, headers, body: body.toString() });
      response.writeHead(answer === undefined ? 404 : (answer.status ?? 200), { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer?.body ?? {}));
      return;
    }
    await this.#serveGit(request, body, response);
  }

  #serveGit(
    { method = '', url = '', headers }: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): Promise<void> {
    const [place = '', query = ''] = url.split('?');
    const git = spawn('git', ['http-backend'], {
      env: {
        ...this.#env,
        GIT_PROJECT_ROOT: this.#root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: place,
        QUERY_STRING: query,
        REQUEST_METHOD: method,
        CONTENT_TYPE: headers['content-type'] ?? '',
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        GIT_PROTOCOL: (headers['git-protocol'] as string | undefined) ?? '',
      },
    });
    git.stdin.on('error', () => undefined);
    git.stdin.end(body);
    const out: Buffer[] = [];
    git.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    return new Promise((resolve) => {
      git.on('close', () => {
        const all = Buffer.concat(out);
        const end = all.indexOf('\r\n\r\n');
        const rows = all.toString('latin1', 0, Math.max(end, 0)).split('\r\n');
        const fields = rows.map((row) => /^([^:]+): (.*)$/.exec(row)).filter((row) => row !== null);
        const status = fields.find(([, name]) => name === 'Status')?.[2];
        for (const [, name = '', value = ''] of fields) if (name !== 'Status') response.setHeader(name, value);
        response.writeHead(Number(status?.slice(0, 3) ?? 200));
        response.end(all.subarray(end + 4));
        resolve();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { type StandInOptions, startMessagesApi } from './messages-api.mjs';

/** Bedrock and Vertex AI in front of the stand-in of the Messages API: their paths, signatures and framing. */
export interface CloudApi extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** What came in: 'METHOD path', and whether its credential was good. */
  readonly seen: { readonly line: string; readonly good: boolean; readonly headers: IncomingMessage['headers'] }[];
}

export interface CloudOptions {
  readonly turns: StandInOptions['turns'];
  /** Keys whose signature is good; a session token too, when there is one. Changed while it runs, they rotate. */
  readonly keys?: () => { readonly id: string; readonly key: string; readonly token?: string };
  /** Bearer token that is good. */
  readonly bearer?: () => string;
}

const hash = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const mac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

/** Signature version 4 as a server checks it, from what arrived. */
function signedBy(request: IncomingMessage, body: Buffer, keys: ReturnType<NonNullable<CloudOptions['keys']>>) {
  const { headers } = request;
  const [, id, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const [date = '', region = '', service = ''] = scope.split('/');
  const path = (request.url ?? '').replace(
    /[^A-Za-z0-9._~/-]/g,
    (one) => `%${Buffer.from(one).toString('hex').toUpperCase()}`,
  );
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [request.method, path, '', lines.join(''), names, hash(body)].join('\n');
  const time = String(headers['x-amz-date']);
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(mac, `AWS4${keys.key}`);
  const wanted = mac(Buffer.from(key), `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash(canonical)}`).toString('hex');
  const fresh =
    Math.abs(Date.parse(time.replace(/^(....)(..)(..)T(..)(..)/, '$1-$2-$3T$4:$5:')) - Date.now()) < 300_000;
  const bound = names.includes('host') && (keys.token === undefined || names.includes('x-amz-security-token'));
  return id === keys.id && signature === wanted && fresh && bound && headers['x-amz-security-token'] === keys.token;
}

/** One event as the service frames it. */
function frame(event: string): Buffer {
  const header = (name: string, value: string): Buffer =>
    Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7, 0, value.length), Buffer.from(value)]);
  const headers = Buffer.concat([
    header(':event-type', 'chunk'),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const payload = Buffer.from(JSON.stringify({ bytes: Buffer.from(event).toString('base64'), p: 'abcd' }));
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value >>> 0);
    return bytes;
  };
  const prelude = Buffer.concat([number(headers.length + payload.length + 16), number(headers.length)]);
  const all = Buffer.concat([prelude, number(crc32(prelude)), headers, payload]);
  return Buffer.concat([all, number(crc32(all))]);
}

/** Answers as the Messages API's stand-in does, in the cloud's form. */
export async function startCloudApi(options: CloudOptions): Promise<CloudApi> {
  const messages = await startMessagesApi({ turns: options.turns });
  const seen: CloudApi['seen'] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const bearer = options.bearer?.();
    const good =
      bearer !== undefined
        ? request.headers.authorization === `Bearer ${bearer}`
        : options.keys !== undefined && signedBy(request, body, options.keys());
    seen.push({ line: `${request.method} ${request.url}`, good, headers: request.headers });
    if (!good) {
      // As AWS does, it repeats what it was sent.
      const headers = { 'content-type': 'application/json', 'x-amzn-errortype': 'ExpiredTokenException' };
      const output = JSON.stringify({ message: `expired: ${JSON.stringify(request.headers)}` });
      response.writeHead(bearer === undefined ? 403 : 401, headers).end(output);
      return;
    }
    const frames = request.url?.endsWith('/invoke-with-response-stream') === true;
    const asked = JSON.parse(body.toString()) as Record<string, unknown>;
    const stream = frames || request.url?.endsWith(':streamRawPredict') === true;
    const inner = await fetch(`${messages.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'inner' },
      body: JSON.stringify({ ...asked, model: 'claude-opus-5', stream }),
    });
    const text = await inner.text();
    if (!frames) {
      response.writeHead(inner.status, { 'content-type': inner.headers.get('content-type') ?? 'text/plain' }).end(text);
      return;
    }
    response.writeHead(inner.status, { 'content-type': 'application/vnd.amazon.eventstream' });
    for (const line of text.split('\n')) if (line.startsWith('data: ')) response.write(frame(line.slice(6)));
    response.end();
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await messages.close();
    },
  };
}

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import path from 'node:path';
import { makeCertificates } from '../agent-beside.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

/** An MCP server that wants a login, and the authorization server that gives it out: two https servers on loopback. */
export interface McpOAuth extends AsyncDisposable {
  /** The certificate that signed theirs, in PEM. */
  readonly ca: string;
  readonly caFile: string;
  /** The origins as clients name them. */
  readonly server: string;
  readonly issuer: string;
  /** A proxy that knows mcp.test on port 443. */
  readonly proxy: string;
  /** What was asked: `METHOD host path`. */
  readonly asked: string[];
  /** Tools that were called with the right token. */
  readonly called: string[];
  /** Answers in place of the usual one, by `server /path` and `issuer /path`. */
  readonly answers: Map<string, Answer>;
  /** Parts of the metadata of the authorization server that differ. */
  metadata: Record<string, unknown>;
  /** Parts of the metadata of the MCP server that differ. */
  resource: Record<string, unknown>;
  /** The `WWW-Authenticate` of the MCP server; undefined: the usual one. */
  challenge: string | undefined;
  /** The one access token that works. */
  token: string;
  /** The one refresh token that works. */
  refreshToken: string;
  /** Of a token, in seconds; undefined: the answer does not name it. */
  lifeS: number | undefined;
  /** How often tokens were given out. */
  readonly grants: string[];
  /** The token that was given out last works no longer. */
  expire(): void;
}

export interface McpOAuthOptions {
  /** A directory for the certificates. */
  readonly dir: string;
  /** The MCP server is mcp.test on port 443, through the proxy; otherwise both are at localhost. */
  readonly isNamed?: boolean;
}

export async function startMcpOAuth({ dir, isNamed = false }: McpOAuthOptions): Promise<McpOAuth> {
  if (!existsSync(path.join(dir, 'cert.pem'))) makeCertificates(dir, ['localhost', 'mcp.test']);
  const read = (name: string): string => readFileSync(path.join(dir, name), 'utf8');
  const tls = { key: read('key.pem'), cert: read('cert.pem') };
  const registered = new Map<string, string>();
  const codes = new Map<string, URLSearchParams>();
  const sockets = new Set<Socket>();
  const serve = async (name: 'server' | 'issuer', usual: Record<string, Answer>) => {
    const server = createServer(tls, (request, response) => {
      const [where = ''] = (request.url ?? '').split('?');
      one.asked.push(`${request.method} ${name} ${where}`);
      const answer = one.answers.get(`${name} ${where}`) ?? usual[where];
      if (answer === undefined) response.writeHead(404).end();
      else answer(response, request);
    });
    server.on('connection', (socket: Socket) => void sockets.add(socket));
    await new Promise<void>((done) => {
      server.listen(0, 'localhost', done);
    });
    return server;
  };
  const json = (response: ServerResponse, value: unknown, status = 200): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const give = (response: ServerResponse, kind: string): void => {
    one.grants.push(kind);
    one.token = `token-REAL-${randomBytes(12).toString('hex')}`;
    one.refreshToken = `refresh-REAL-${randomBytes(12).toString('hex')}`;
    const life = one.lifeS === undefined ? {} : { expires_in: one.lifeS };
    json(response, { access_token: one.token, token_type: 'Bearer', refresh_token: one.refreshToken, ...life });
  };

  const issuer = await serve('issuer', {
    '/.well-known/oauth-authorization-server': (response) =>
      json(response, {
        issuer: one.issuer,
        authorization_endpoint: `${one.issuer}/authorize`,
        token_endpoint: `${one.issuer}/token`,
        registration_endpoint: `${one.issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...one.metadata,
      }),
    '/register': async (response, request) => {
      const id = `client-${randomBytes(4).toString('hex')}`;
      const { redirect_uris: redirects } = JSON.parse(await bodyOf(request)) as { redirect_uris: string[] };
      registered.set(id, redirects[0] ?? '');
      json(response, { client_id: id, redirect_uris: redirects }, 201);
    },
    // The user's browser: who opens it agrees.
    '/authorize': (response, request) => {
      const query = new URL(request.url ?? '', one.issuer).searchParams;
      const redirect = query.get('redirect_uri') ?? '';
      const isKnown = query.get('client_id') === 'by-hand' || registered.get(query.get('client_id') ?? '') === redirect;
      if (!isKnown || query.get('code_challenge_method') !== 'S256') return void response.writeHead(400).end();
      const code = randomBytes(8).toString('hex');
      codes.set(code, query);
      const back = new URLSearchParams({ code, state: query.get('state') ?? '', iss: one.issuer });
      return void response.writeHead(302, { location: `${redirect}?${back}` }).end();
    },
    '/token': async (response, request) => {
      const form = new URLSearchParams(await bodyOf(request));
      const isForServer = form.get('resource') === `${one.server}/mcp`;
      if (form.get('grant_type') === 'refresh_token' && isForServer) {
        if (form.get('refresh_token') !== one.refreshToken) return json(response, { error: 'invalid_grant' }, 400);
        return give(response, 'refresh');
      }
      const login = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isSame = ['client_id', 'redirect_uri', 'resource'].every((name) => form.get(name) === login?.get(name));
      if (login === undefined || !isSame || !isForServer || login.get('code_challenge') !== challenge)
        return json(response, { error: 'invalid_grant' }, 400);
      return give(response, 'code');
    },
  });
  const server = await serve('server', {
    '/.well-known/oauth-protected-resource/mcp': (response) =>
      json(response, {
        resource: `${one.server}/mcp`,
        authorization_servers: [one.issuer],
        scopes_supported: ['read'],
        ...one.resource,
      }),
    '/mcp': async (response, request) => {
      const body = await bodyOf(request);
      if (one.token === '' || request.headers.authorization !== `Bearer ${one.token}`) {
        const usual = `Bearer resource_metadata="${one.server}/.well-known/oauth-protected-resource/mcp"`;
        return void response.writeHead(401, { 'www-authenticate': one.challenge ?? usual }).end();
      }
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method, params } = JSON.parse(body) as Message;
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'tools/call') one.called.push(String(params?.['name']));
      return json(response, { jsonrpc: '2.0', id, ...resultOf(method, params) });
    },
  });
  const portOf = (of: typeof server): number => (of.address() as AddressInfo).port;
  const ports: Readonly<Record<string, number>> = { 'mcp.test:443': portOf(server) };
  const proxy = createHttpServer();
  proxy.on('connect', (request, client: Socket) => {
    const port = ports[request.url ?? ''];
    client.on('error', () => undefined);
    if (port === undefined) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const to = connect(port, 'localhost', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    to.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('close', () => to.destroy());
    return void client.pipe(to).pipe(client);
  });
  await new Promise<void>((done) => {
    proxy.listen(0, '127.0.0.1', done);
  });
  const one: McpOAuth = {
    ca: read('ca.pem'),
    caFile: path.join(dir, 'ca.pem'),
    server: isNamed ? 'https://mcp.test' : `https://localhost:${portOf(server)}`,
    issuer: `https://localhost:${portOf(issuer)}`,
    proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    asked: [],
    called: [],
    answers: new Map(),
    metadata: {},
    resource: {},
    challenge: undefined,
    token: '',
    refreshToken: '',
    lifeS: 3600,
    grants: [],
    expire() {
      one.token = 'expired';
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      for (const each of [server, issuer, proxy]) {
        each.closeAllConnections();
        await new Promise((done) => each.close(done));
      }
    },
  };
  return one;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

function resultOf(method: string, params: Message['params']): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'box', version: '1' };
    return { result: { protocolVersion: params?.['protocolVersion'], capabilities: { tools: {} }, serverInfo } };
  }
  const inputSchema = { type: 'object' };
  if (method === 'tools/list') return { result: { tools: [{ name: 'search', description: 'Search.', inputSchema }] } };
  if (method === 'tools/call') return { result: { content: [{ type: 'text', text: 'result of search' }] } };
  return { error: { code: -32601, message: 'unknown method' } };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type Server,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { type Exchange, openExchange, type PortStream, type PreviewDeps } from './exchange.ts';
import type { Judgement, PreviewAddress } from './judge-request.ts';
import { passedResponseHeaders } from './judge-response.ts';
import { plainAnswer, REFUSED_HINT, sendPage } from './pages.ts';
import { isForeignPeer } from './peer.ts';

/** Connections of browsers to one port. */
const MAX_CONNECTIONS = 200;
const HEAD_MS = 15_000;
/** A build tool may work for long before its first answer. */
const ANSWER_MS = 300_000;
/** Of the agent's program: cookies and policies of a page fit well. */
const MAX_HEAD_BYTES = 32 * 1024;

/** A server of one page. */
export interface PreviewServer {
  readonly server: Server;
  /** Ends its connections too, also those that are WebSockets by now. */
  close(): void;
}

/** The HTTP server of one page. It passes on what judgeRequest lets pass, and listens nowhere yet. */
export function createPreview(port: number, address: () => PreviewAddress, deps: PreviewDeps): PreviewServer {
  const upgraded = new Set<Socket>();
  const foreign = new WeakSet<Socket>();
  const judge = (request: IncomingMessage, isUpgrade: boolean): Exchange =>
    openExchange(port, address(), request, { isUpgrade, isForeign: foreign.has(request.socket) }, deps);
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, headersTimeout: HEAD_MS, requestTimeout: 0 });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    if (isForeignPeer(socket)) foreign.add(socket);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    withoutErrors(request, deps, () => {
      const exchange = judge(request, false);
      exchange.judgement.kind === 'pass'
        ? passOn(exchange, exchange.judgement.headers, response)
        : answerHere(exchange, exchange.judgement, response);
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, first: Buffer) => {
    upgraded.add(socket);
    socket.on('close', () => upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    withoutErrors(request, deps, () => {
      const exchange = judge(request, true);
      if (exchange.judgement.kind === 'pass') {
        passUpgrade(exchange, exchange.judgement.headers, socket, first);
        return;
      }
      const { status, why } = exchange.judgement.kind === 'refused' ? exchange.judgement : TOKEN_IN_UPGRADE;
      exchange.log('refused', { why, status });
      endWith(socket, plainAnswer(status, `${why}. ${REFUSED_HINT}`));
    });
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  return {
    server,
    close() {
      server.close();
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
    },
  };
}

/** The process also runs the session: an error of one request ends its connection only. */
function withoutErrors(request: IncomingMessage, { tell }: PreviewDeps, serve: () => void): void {
  try {
    serve();
  } catch (error) {
    request.socket.destroy();
    tell({ kind: 'trace', text: `preview: ${String(error)}` });
  }
}

/** The other side may keep its own half open for ever. */
function endWith(socket: Socket, text: string): void {
  socket.write(text);
  socket.destroySoon();
}

const TOKEN_IN_UPGRADE = { status: 400, why: 'the token is taken from an address that is opened' } as const;

function answerHere(
  exchange: Exchange,
  judgement: Exclude<Judgement, { kind: 'pass' }>,
  response: ServerResponse,
): void {
  if (judgement.kind === 'enter') {
    response.writeHead(303, {
      Location: judgement.location,
      'Set-Cookie': judgement.cookie,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
    response.end();
    exchange.log('passed', { status: 303 });
    return;
  }
  const { status, why } = judgement;
  exchange.log('refused', { status, why });
  sendPage(response, status, `${why}. ${REFUSED_HINT}`);
}

const UNREACHABLE = 'the session cannot be reached at the moment';

/** The request to the agent's program, not yet sent. */
function requestTo(
  stream: PortStream,
  method: string | undefined,
  path: string | undefined,
  headers: string[],
): ClientRequest {
  return requestHttp({ createConnection: () => stream, method, path, headers, maxHeaderSize: MAX_HEAD_BYTES });
}

function passOn(exchange: Exchange, headers: string[], response: ServerResponse): void {
  const { request, port, deps, address } = exchange;
  const stream = deps.openPort(port);
  let isFailed = false;
  const fail = (status: number, why: string): void => {
    if (isFailed) return;
    isFailed = true;
    exchange.log('failed', { status, why, ...(stream && { stream }) });
    request.unpipe();
    request.resume();
    sendPage(response, status, `Port ${port} of the session: ${why}.`);
    stream?.destroy();
  };
  if (stream === undefined) {
    fail(503, UNREACHABLE);
    return;
  }
  const timer = setTimeout(() => fail(504, `no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS);
  const outgoing = requestTo(stream, request.method, request.url, headers);
  let answered: number | undefined;
  outgoing.on('error', (error) => {
    // After an answer has begun, its own end or error counts: a program may answer before it has read all.
    if (answered === undefined) fail(502, error.message);
  });
  outgoing.on('upgrade', () => fail(502, 'it changes the protocol unasked'));
  outgoing.on('response', (incoming) => {
    clearTimeout(timer);
    answered = incoming.statusCode ?? 0;
    try {
      response.writeHead(
        incoming.statusCode ?? 502,
        passedResponseHeaders(incoming.rawHeaders, address, deps.allowedHosts),
      );
    } catch (error) {
      // A header that must not be written.
      fail(502, (error as Error).message);
      return;
    }
    response.flushHeaders();
    incoming.pipe(response);
    incoming.on('aborted', () => response.destroy());
    incoming.on('error', () => response.destroy());
  });
  response.on('close', () => {
    clearTimeout(timer);
    if (answered === undefined) exchange.log('failed', { why: 'the browser closed the connection', stream });
    else exchange.log('passed', { status: answered, stream });
    request.unpipe(outgoing);
    request.resume();
    // The answer came before the end of the request: the connection cannot carry another one.
    if (!request.complete) request.socket.destroySoon();
    stream.destroy();
  });
  request.on('error', () => stream.destroy());
  request.pipe(outgoing);
}

function passUpgrade(exchange: Exchange, headers: string[], socket: Socket, first: Buffer): void {
  const { request, port, deps, address } = exchange;
  const stream = deps.openPort(port);
  let isOpen = false;
  const fail = (status: number, why: string): void => {
    exchange.log('failed', { status, why, ...(stream && { stream }) });
    if (isOpen) socket.destroy();
    else endWith(socket, plainAnswer(status, `Port ${port} of the session: ${why}.`));
    stream?.destroy();
  };
  if (stream === undefined) {
    fail(503, UNREACHABLE);
    return;
  }
  const timer = setTimeout(() => fail(504, `no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS);
  const outgoing = requestTo(stream, 'GET', request.url, headers);
  outgoing.on('error', (error) => fail(502, error.message));
  outgoing.on('response', (incoming) => fail(502, `it does not open a WebSocket (status ${incoming.statusCode ?? 0})`));
  outgoing.on('upgrade', (incoming, _stream, early: Buffer) => {
    clearTimeout(timer);
    try {
      const head = new ServerResponse(request);
      const passed = passedResponseHeaders(incoming.rawHeaders, address, deps.allowedHosts);
      for (let at = 0; at + 1 < passed.length; at += 2) head.appendHeader(passed[at] ?? '', passed[at + 1] ?? '');
      socket.write(upgradeHead(head.getHeaders()));
    } catch (error) {
      fail(502, (error as Error).message);
      return;
    }
    isOpen = true;
    if (early.length > 0) socket.write(early);
    if (first.length > 0) stream.write(first);
    stream.pipe(socket);
    socket.pipe(stream);
    stream.on('error', () => socket.destroy());
    stream.on('close', () => socket.destroySoon());
  });
  socket.on('close', () => {
    clearTimeout(timer);
    exchange.log(isOpen ? 'passed' : 'failed', isOpen ? { status: 101, stream } : { why: 'the browser left', stream });
    stream.destroy();
  });
  outgoing.end();
}

/** appendHeader has refused names and values that would end a line. */
function upgradeHead(headers: NodeJS.Dict<number | string | string[]>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [String(value ?? '')]).map((one) => `${name}: ${one}\r\n`),
  );
  return `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines.join('')}\r\n`;
}

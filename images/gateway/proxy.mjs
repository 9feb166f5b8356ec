// The HTTP proxy of the agent: CONNECT for TLS whose server name is the CONNECT host, and plain HTTP request by request
// (absolute-form, or inside a CONNECT to port 80). What passes is decided in egress.mjs.
import http from 'node:http';
import { createTurns } from './bounds.mjs';
import { readClientHello } from './client-hello.mjs';
import { Refused } from './egress.mjs';
import { exchange } from './exchange.mjs';
import { forwardedHeaders, framing, hostHeader } from './headers.mjs';
import { cleanName, hostName, parseAuthority } from './names.mjs';
import { Inlet, join } from './tunnel.mjs';

/** A fatal TLS alert, unrecognized_name: what a client shows when the handshake may not go on. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * @typedef {import('node:stream').Duplex} Duplex
 * @typedef {Omit<import('../../src/types/gateway.ts').NetworkEntry, 'at'>} Entry
 * @typedef {{ host: string, port: number }} Target
 * @typedef {{ config: import('../../src/types/gateway.ts').GatewayConfig, egress: import('./egress.mjs').Egress,
 *   log: (entry: Entry) => void,
 *   intercept: ((client: Duplex, target: Target) => boolean) }} ProxyParts
 */

/** @param {string} why one line for the agent */
const lineFor = (why) => `run-claude: ${why}`.replace(/[^\x20-\x7e]/g, '?');

/** @param {Duplex} socket @param {number} status @param {string} why */
function refuseSocket(socket, status, why) {
  const line = lineFor(why);
  // Some clients show the reason phrase only, some the body.
  socket.end(
    `HTTP/1.1 ${status} ${line}\r\ncontent-type: text/plain\r\ncontent-length: ${line.length + 1}\r\nconnection: close\r\n\r\n${line}\n`,
  );
  socket.resume();
  setTimeout(() => socket.destroy(), 2000).unref();
}

/** The first bytes of a tunnel, put back for whoever reads next.
 * @param {Duplex} client @param {number} ms @returns {Promise<import('./client-hello.mjs').FirstBytes>} */
function firstBytes(client, ms) {
  return new Promise((done) => {
    let seen = Buffer.alloc(0);
    /** @param {import('./client-hello.mjs').FirstBytes} found */
    const over = (found) => {
      clearTimeout(timer);
      client.off('data', take).off('end', ended).off('close', ended).off('error', ended);
      client.pause();
      if (seen.length > 0 && !client.destroyed && !client.readableEnded) client.unshift(seen);
      done(found);
    };
    const ended = () => over({ kind: 'bad', why: 'the connection ended before its first message' });
    /** @param {Buffer} chunk */
    const take = (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      const found = readClientHello(seen);
      if (found.kind !== 'more') over(found);
    };
    const timer = setTimeout(() => over({ kind: 'bad', why: 'no first message in time' }), ms);
    client.on('data', take).once('end', ended).once('close', ended).once('error', ended);
    client.resume();
  });
}

/** Throws Refused unless the tunnel speaks TLS to the very host it was asked for.
 * @param {import('./client-hello.mjs').FirstBytes} first @param {Target} target @param {boolean} portByRule */
function judgeFirst(first, { host }, portByRule) {
  if (first.kind === 'bad') throw new Refused(`${host}: ${first.why}`);
  if (first.kind === 'plain') {
    // A rule that names another port may mean another protocol; the person chose host, port and so the server.
    if (portByRule) return;
    throw new Refused(`${host}: only TLS passes through CONNECT on this port`);
  }
  if (first.kind === 'more') throw new Refused(`${host}: no first message`);
  if (first.encrypted) throw new Refused(`${host}: an encrypted server name can't be judged`);
  const isAddress = /^[0-9.]+$/.test(host) || host.includes(':');
  if (first.serverName === undefined && isAddress) return;
  if (first.serverName === undefined) throw new Refused(`${host}: the TLS handshake names no server`);
  if (hostName(first.serverName) !== host)
    throw new Refused(`the TLS handshake names ${cleanName(first.serverName)}, the tunnel was asked for ${host}`);
}

/** @param {ProxyParts} parts @returns {http.Server} */
export function createProxy({ config, egress, log, intercept }) {
  const { limits } = config;
  const turns = createTurns(limits.connections);
  const full = () => new Error('too many requests at once');
  /** Sockets inside a CONNECT to a plain HTTP port, and where that CONNECT went. @type {WeakMap<object, Target>} */
  const tunnels = new WeakMap();

  /** @param {Omit<Entry, 'verdict' | 'ms'>} entry @param {number} started @param {unknown} error */
  function logFailure(entry, started, error) {
    const refused = error instanceof Refused;
    const why = error instanceof Error ? error.message : String(error);
    const more = refused ? { quiet: error.quiet, unlisted: error.unlisted } : {};
    log({ ...entry, verdict: refused ? 'refused' : 'failed', why, ms: Date.now() - started, ...more });
    // Only what no rule names can be allowed; for the rest the advice would be wrong.
    return more.unlisted === true ? `${why}; the person can allow it: run-claude network allow ${entry.host}` : why;
  }

  /** @param {http.IncomingMessage} request @param {Duplex} client @param {Buffer} head */
  async function connect(request, client, head) {
    const started = Date.now();
    const target = parseAuthority(request.url ?? '');
    const shown = target ?? { host: cleanName(request.url ?? ''), port: 0 };
    const entry = /** @type {const} */ ({ kind: 'connect', ...shown, method: 'CONNECT', up: 0, down: 0 });
    client.on('error', () => client.destroy());
    if (head.length > 0) client.unshift(head);
    let answered = false;
    try {
      // One in the other without end would fill memory.
      if (tunnels.has(client)) throw new Refused('there is no tunnel inside a tunnel');
      if (target === undefined) throw new Refused(`${shown.host} is not host:port with a plain host name`);
      const named = hostHeader(request.rawHeaders, target.port);
      if (request.headers.host !== undefined && (named?.host !== target.host || named.port !== target.port))
        throw new Refused('the Host header is not the CONNECT host');
      const rule = egress.ruleFor(target.host, target.port, [443, 80]);
      if (target.port === 443 && intercept(client, target)) return;
      if (target.port === 80) {
        tunnels.set(client, target);
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        server.emit('connection', client);
        return;
      }
      const { socket: upstream, inlet } = await egress.dialInto(target.host, target.port, new Inlet());
      try {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        answered = true;
        upstream.on('error', () => upstream.destroy());
        const first = await firstBytes(client, limits.headMs);
        judgeFirst(first, target, rule.port !== undefined && rule.port !== 443);
      } catch (error) {
        upstream.destroy();
        throw error;
      }
      const { up, down, cut } = await join(client, upstream, limits, inlet);
      log({
        ...entry,
        verdict: 'passed',
        up,
        down,
        ms: Date.now() - started,
        ...(cut === undefined ? {} : { why: cut }),
      });
    } catch (error) {
      const why = logFailure(entry, started, error);
      if (!answered) refuseSocket(client, error instanceof Refused ? 403 : 502, why);
      else {
        client.end(ALERT);
        client.resume();
        setTimeout(() => client.destroy(), 2000).unref();
      }
    }
  }

  /** Where a plain request goes. Throws Refused. @param {http.IncomingMessage} request */
  function plainTarget(request) {
    const inside = tunnels.get(request.socket);
    const url = request.url ?? '';
    const absolute = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(url);
    if (inside === undefined && absolute === null)
      throw new Refused('this is a proxy: it takes http:// addresses and CONNECT');
    if (inside !== undefined && !url.startsWith('/')) throw new Refused('inside a tunnel a request names a path');
    const target = inside ?? parseAuthority(absolute?.[1] ?? '', 80);
    if (target === undefined) throw new Refused(`${cleanName(absolute?.[1] ?? '')} is not a plain host name`);
    const named = hostHeader(request.rawHeaders, 80);
    if (named?.host !== target.host || named.port !== target.port)
      throw new Refused(`the Host header is not ${target.host}`);
    egress.ruleFor(target.host, target.port, [80]);
    const rest = inside === undefined ? (absolute?.[2] ?? '') : url;
    return { ...target, path: rest.startsWith('/') ? rest : `/${rest}` };
  }

  /** @param {http.IncomingMessage} request @param {Target & { path: string }} target @param {string[]} more headers */
  async function plainRequest(request, target, more) {
    const socket = await egress.dial(target.host, target.port);
    return http.request({
      createConnection: () => socket,
      method: request.method ?? 'GET',
      path: target.path,
      headers: [...forwardedHeaders(request.rawHeaders), ...more],
    });
  }

  /** @param {http.IncomingMessage} request */
  const shownTarget = (request) => {
    const authority = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? '')?.[1] ?? request.headers.host ?? '';
    return tunnels.get(request.socket) ?? parseAuthority(authority, 80) ?? { host: cleanName(authority), port: 0 };
  };

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async function plain(request, response) {
    const started = Date.now();
    const entry = /** @type {const} */ ({ kind: 'http', ...shownTarget(request), method: request.method ?? '' });
    const passed = { up: 0, down: 0 };
    try {
      const more = ['connection', 'close', ...framing(request.headers)];
      const status = await turns.take(full, async () => {
        const out = await plainRequest(request, plainTarget(request), more);
        return exchange(request, response, out, limits, passed);
      });
      log({ ...entry, verdict: 'passed', status, ...passed, ms: Date.now() - started });
    } catch (error) {
      request.resume();
      const why = logFailure({ ...entry, ...passed }, started, error);
      if (response.headersSent) response.destroy();
      else {
        response.writeHead(error instanceof Refused ? 403 : 502, { 'content-type': 'text/plain', connection: 'close' });
        response.end(`${lineFor(why)}\n`);
      }
    }
  }

  /** A WebSocket over plain HTTP. @param {http.IncomingMessage} request @param {Duplex} client @param {Buffer} head */
  async function upgrade(request, client, head) {
    const started = Date.now();
    const entry = /** @type {const} */ ({ kind: 'http', ...shownTarget(request), method: 'UPGRADE', up: 0, down: 0 });
    client.on('error', () => client.destroy());
    try {
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') throw new Refused('only WebSockets are upgraded');
      if (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) !== 0)
        throw new Refused('an upgrade has no body');
      const out = await plainRequest(request, plainTarget(request), ['connection', 'Upgrade', 'upgrade', 'websocket']);
      /** @type {[http.IncomingMessage, Duplex, Buffer]} */
      const [answer, socket, rest] = await new Promise((done, failed) => {
        out.once('upgrade', (...all) => done(all)).on('error', failed);
        out.once('response', (other) => {
          other.destroy();
          failed(new Error(`the server answered ${other.statusCode}`));
        });
        out.end();
      });
      const lines = forwardedHeaders(answer.rawHeaders);
      const text = lines.map((value, i) => (i % 2 === 0 ? `${value}: ` : `${value}\r\n`)).join('');
      client.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${text}\r\n`);
      if (rest.length > 0) socket.unshift(rest);
      if (head.length > 0) client.unshift(head);
      const { up, down } = await join(client, socket, limits);
      log({ ...entry, verdict: 'passed', up, down, ms: Date.now() - started });
    } catch (error) {
      refuseSocket(client, error instanceof Refused ? 403 : 502, logFailure(entry, started, error));
    }
  }

  const server = http.createServer(
    { maxHeaderSize: 16 * 1024, requestTimeout: 0, connectionsCheckingInterval: Math.min(limits.headMs, 5000) },
    (request, response) => {
      void plain(request, response);
    },
  );
  server.on('connect', (request, client, head) => void connect(request, client, head));
  server.on('upgrade', (request, client, head) => void upgrade(request, client, head));
  server.on('clientError', (error, socket) => {
    const code = /** @type {NodeJS.ErrnoException} */ (error).code ?? '';
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    log({
      kind: 'http',
      verdict: 'refused',
      host: '',
      port: 0,
      method: '',
      why: `bad request (${code})`,
      up: 0,
      down: 0,
      ms: 0,
    });
    refuseSocket(socket, code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, 'this is no proper HTTP request');
  });
  return server;
}

// The HTTP proxy of the agent: CONNECT for TLS whose server name is the CONNECT host, and plain HTTP request by request
// (absolute-form, or inside a CONNECT to port 80). What passes is decided in egress.mjs.
import http from 'node:http';
import { createTurns } from './bounds.mjs';
import { decoysOf } from './decoys.mjs';
import { Refused } from './egress.mjs';
import { exchange } from './exchange.mjs';
import { firstBytes, judgeFirstBytes } from './first-bytes.mjs';
import { forwardedHeaders, framing, hostHeader } from './headers.mjs';
import { cleanName, parseAuthority } from './names.mjs';
import { hasBody } from './passed-body.mjs';
import { Inlet, join } from './tunnel.mjs';

/** A fatal TLS alert, unrecognized_name: what a client shows when the handshake may not go on. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * @typedef {import('node:stream').Duplex} Duplex
 * @typedef {Omit<import('../../src/core/types/gateway.ts').NetworkEntry, 'at'>} Entry
 * @typedef {{ host: string, port: number }} Target
 * @typedef {{ config: import('../../src/core/types/gateway.ts').GatewayConfig, egress: import('./egress.mjs').Egress,
 *   log: (entry: Entry) => void, decoys: import('./decoys.mjs').DecoyWatch,
 *   intercept: ((client: Duplex, target: Target) => boolean) }} ProxyParts
 */

/** @param {string} why one line for the agent */
const lineFor = (why) => `run-claude: ${why}`.replace(/[^\x20-\x7e]/g, '?');

/** @param {Duplex} socket @param {number} status @param {string} why */
function refuseSocket(socket, status, why) {
  const line = lineFor(why);
  // Some clients show the reason phrase only, some the body.
  endSocket(
    socket,
    `HTTP/1.1 ${status} ${line}\r\ncontent-type: text/plain\r\ncontent-length: ${line.length + 1}\r\nconnection: close\r\n\r\n${line}\n`,
  );
}

/** Sends the last bytes. A client that does not close its side is cut off. @param {Duplex} socket
 * @param {string | Buffer} bytes */
function endSocket(socket, bytes) {
  socket.end(bytes);
  socket.resume();
  setTimeout(() => socket.destroy(), 2000).unref();
}

/** @param {ProxyParts} parts @returns {http.Server} */
export function createProxy(parts) {
  return new AgentProxy(parts).server;
}

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

class AgentProxy {
  /** @param {ProxyParts} parts */
  constructor(parts) {
    this.parts = parts;
    const { limits } = parts.config;
    this.turns = createTurns(limits.connections);
    /** Sockets inside a CONNECT to a plain HTTP port, and where that CONNECT went. @type {WeakMap<object, Target>} */
    this.tunnels = new WeakMap();
    /** A server that agrees on an extension gets frames that cannot be searched: they may be compressed. */
    this.unread = { has: (/** @type {string} */ name) => parts.decoys.isActive && name === 'sec-websocket-extensions' };
    this.server = http.createServer(
      { maxHeaderSize: 16 * 1024, requestTimeout: 0, connectionsCheckingInterval: Math.min(limits.headMs, 5000) },
      (request, response) => void this.passPlain(request, response),
    );
    this.server.on('connect', (request, client, head) => void this.connect(request, client, head));
    this.server.on('upgrade', (request, client, head) => void this.upgrade(request, client, head));
    this.server.on('clientError', (error, client) => this.refuseMalformed(error, client));
  }

  /**
   * A tunnel is in one of these states: `judging` (a refusal is an HTTP answer), `established` (the client has the
   * answer 200: a refusal is a TLS alert), then joined to the server, handed to the broker, or read as plain HTTP.
   * @param {http.IncomingMessage} request @param {Duplex} client @param {Buffer} head
   */
  async connect(request, client, head) {
    const startedMs = Date.now();
    const asked = parseAuthority(request.url ?? '');
    const shown = asked ?? { host: cleanName(request.url ?? ''), port: 0 };
    const entry = /** @type {const} */ ({ kind: 'connect', ...shown, method: 'CONNECT', up: 0, down: 0 });
    client.on('error', () => client.destroy());
    if (head.length > 0) client.unshift(head);
    /** @type {'judging' | 'established'} */
    let state = 'judging';
    /** @type {import('node:stream').Transform | undefined} */
    let through;
    try {
      const { target, rule } = this.judgedTunnel(request, client, asked, shown.host);
      if (target.port === 443 && this.parts.intercept(client, target)) return;
      if (target.port === 80) {
        this.tunnels.set(client, target);
        client.write(ESTABLISHED);
        this.server.emit('connection', client);
        return;
      }
      const { socket: upstream, inlet } = await this.parts.egress.dialInto(target.host, target.port, new Inlet());
      try {
        client.write(ESTABLISHED);
        state = 'established';
        upstream.on('error', () => upstream.destroy());
        const first = await firstBytes(client, this.parts.config.limits.headMs);
        judgeFirstBytes(first, target.host, rule.port !== undefined && rule.port !== 443);
        if (first.kind === 'plain') through = this.parts.decoys.stream();
      } catch (error) {
        upstream.destroy();
        throw error;
      }
      const { up, down, cut, error } = await join(client, upstream, this.parts.config.limits, inlet, through);
      if (error instanceof Refused) return void this.logFailure({ ...entry, up, down }, startedMs, error);
      const why = cut === undefined ? {} : { why: cut };
      this.parts.log({ ...entry, verdict: 'passed', up, down, ms: Date.now() - startedMs, ...why });
    } catch (error) {
      const why = this.logFailure(entry, startedMs, error);
      if (state === 'judging') refuseSocket(client, error instanceof Refused ? 403 : 502, why);
      else endSocket(client, ALERT);
    }
  }

  /** Where the tunnel goes, and the rule that lets it pass. Throws Refused.
   * @param {http.IncomingMessage} request @param {Duplex} client @param {Target | undefined} target
   * @param {string} shownHost */
  judgedTunnel(request, client, target, shownHost) {
    this.parts.decoys.judgeName(request.url ?? '');
    // Tunnels inside tunnels without end would fill the memory.
    if (this.tunnels.has(client)) throw new Refused('there is no tunnel inside a tunnel');
    if (target === undefined) throw new Refused(`${shownHost} is not host:port with a plain host name`);
    const named = hostHeader(request.rawHeaders, target.port);
    if (request.headers.host !== undefined && (named?.host !== target.host || named.port !== target.port))
      throw new Refused('the Host header is not the CONNECT host');
    return { target, rule: this.parts.egress.ruleFor(target.host, target.port, [443, 80]) };
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async passPlain(request, response) {
    const startedMs = Date.now();
    const { log, config, decoys } = this.parts;
    const entry = /** @type {const} */ ({ kind: 'http', ...this.shownTarget(request), method: request.method ?? '' });
    const passed = { up: 0, down: 0 };
    try {
      const more = ['connection', 'close', ...framing(request.headers)];
      const status = await this.turns.take(
        () => new Error('too many requests at once'),
        async () => {
          const target = this.judgedPlain(request);
          const through = hasBody(request) ? decoys.stream(request.headers['content-encoding']) : undefined;
          const out = await this.plainRequest(request, target, more);
          return exchange(request, response, out, config.limits, passed, { through });
        },
      );
      log({ ...entry, verdict: 'passed', status, ...passed, ms: Date.now() - startedMs });
    } catch (error) {
      request.resume();
      const why = this.logFailure({ ...entry, ...passed }, startedMs, error);
      if (response.headersSent) response.destroy();
      else {
        response.writeHead(error instanceof Refused ? 403 : 502, { 'content-type': 'text/plain', connection: 'close' });
        response.end(`${lineFor(why)}\n`);
      }
    }
  }

  /** A WebSocket over plain HTTP. @param {http.IncomingMessage} request @param {Duplex} client @param {Buffer} head */
  async upgrade(request, client, head) {
    const startedMs = Date.now();
    const shown = this.shownTarget(request);
    const entry = /** @type {const} */ ({ kind: 'http', ...shown, method: 'UPGRADE', up: 0, down: 0 });
    client.on('error', () => client.destroy());
    try {
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') throw new Refused('only WebSockets are upgraded');
      if (request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) !== 0)
        throw new Refused('an upgrade has no body');
      const more = ['connection', 'Upgrade', 'upgrade', 'websocket'];
      const { answer, socket, rest } = await upgraded(
        await this.plainRequest(request, this.judgedPlain(request), more),
      );
      const lines = forwardedHeaders(answer.rawHeaders);
      const text = lines.map((value, i) => (i % 2 === 0 ? `${value}: ` : `${value}\r\n`)).join('');
      client.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${text}\r\n`);
      if (rest.length > 0) socket.unshift(rest);
      if (head.length > 0) client.unshift(head);
      const through = this.parts.decoys.webSocket();
      const { up, down, error } = await join(client, socket, this.parts.config.limits, undefined, through);
      if (error instanceof Refused) return void this.logFailure({ ...entry, up, down }, startedMs, error);
      this.parts.log({ ...entry, verdict: 'passed', up, down, ms: Date.now() - startedMs });
    } catch (error) {
      refuseSocket(client, error instanceof Refused ? 403 : 502, this.logFailure(entry, startedMs, error));
    }
  }

  /** Where a plain request goes, whose line and headers have no decoy. Throws Refused. @param {http.IncomingMessage} request */
  judgedPlain(request) {
    const { decoys } = this.parts;
    decoys.judgeName(this.shownTarget(request).host);
    decoys.judgeTexts([request.method ?? '', request.url ?? '', ...forwardedHeaders(request.rawHeaders)]);
    return this.plainTarget(request);
  }

  /** Where a plain request goes. Throws Refused. @param {http.IncomingMessage} request */
  plainTarget(request) {
    const tunnel = this.tunnels.get(request.socket);
    const url = request.url ?? '';
    const absolute = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(url);
    if (tunnel === undefined && absolute === null)
      throw new Refused('this is a proxy: it takes http:// addresses and CONNECT');
    if (tunnel !== undefined && !url.startsWith('/')) throw new Refused('inside a tunnel a request names a path');
    const target = tunnel ?? parseAuthority(absolute?.[1] ?? '', 80);
    if (target === undefined) throw new Refused(`${cleanName(absolute?.[1] ?? '')} is not a plain host name`);
    const named = hostHeader(request.rawHeaders, 80);
    if (named?.host !== target.host || named.port !== target.port)
      throw new Refused(`the Host header is not ${target.host}`);
    this.parts.egress.ruleFor(target.host, target.port, [80]);
    const rest = tunnel === undefined ? (absolute?.[2] ?? '') : url;
    return { ...target, path: rest.startsWith('/') ? rest : `/${rest}` };
  }

  /** @param {http.IncomingMessage} request @param {Target & { path: string }} target @param {string[]} more headers */
  async plainRequest(request, target, more) {
    const socket = await this.parts.egress.dial(target.host, target.port);
    return http.request({
      createConnection: () => socket,
      method: request.method ?? 'GET',
      path: target.path,
      headers: [...forwardedHeaders(request.rawHeaders, this.unread), ...more],
    });
  }

  /** What the network log names. @param {http.IncomingMessage} request @returns {Target} */
  shownTarget(request) {
    const authority = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? '')?.[1] ?? request.headers.host ?? '';
    return this.tunnels.get(request.socket) ?? parseAuthority(authority, 80) ?? { host: cleanName(authority), port: 0 };
  }

  /** @param {Error} error @param {Duplex} client */
  refuseMalformed(error, client) {
    const code = /** @type {NodeJS.ErrnoException} */ (error).code ?? '';
    if (code === 'ECONNRESET' || !client.writable) {
      client.destroy();
      return;
    }
    const nothing = { host: '', port: 0, method: '', up: 0, down: 0, ms: 0 };
    this.parts.log({ kind: 'http', verdict: 'refused', ...nothing, why: `bad request (${code})` });
    refuseSocket(client, code === 'HPE_HEADER_OVERFLOW' ? 431 : 400, 'this is not a valid HTTP request');
  }

  /** Logs a failure; gives the reason for the agent.
   * @param {Omit<Entry, 'verdict' | 'ms'>} entry @param {number} startedMs @param {unknown} error */
  logFailure(entry, startedMs, error) {
    const isRefused = error instanceof Refused;
    const why = error instanceof Error ? error.message : String(error);
    const more = isRefused ? { quiet: error.quiet, unlisted: error.unlisted } : {};
    this.parts.log({
      ...entry,
      verdict: isRefused ? 'refused' : 'failed',
      why,
      ms: Date.now() - startedMs,
      ...more,
      ...decoysOf(error),
    });
    // A host that a rule names cannot be allowed: this advice would be wrong.
    return more.unlisted === true ? `${why}; the user can allow it: run-claude network allow ${entry.host}` : why;
  }
}

/** Sends a request for an upgrade. @param {http.ClientRequest} out
 * @returns {Promise<{ answer: http.IncomingMessage, socket: Duplex, rest: Buffer }>} */
function upgraded(out) {
  return new Promise((done, failed) => {
    out.once('upgrade', (answer, socket, rest) => done({ answer, socket, rest })).on('error', failed);
    out.once('response', (other) => {
      other.destroy();
      failed(new Error(`the server answered ${other.statusCode}`));
    });
    out.end();
  });
}

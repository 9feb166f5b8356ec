// Hosts whose requests are judged. TLS to such a host ends here, under the session's CA that only the agent's container
// trusts. Each request is judged by its method and path, gets the host's secret in its header, and goes on over verified
// TLS to the host.
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { bound, createTurns, handshakeWithin } from './bounds.mjs';
import { createHostCertificate } from './certificate.mjs';
import { decoysOf } from './decoys.mjs';
import { Refused } from './egress.mjs';
import { exchange } from './exchange.mjs';
import { framing, hostHeader, listedHeaders } from './headers.mjs';
import { Busy, Holding } from './held-body.mjs';
import { judgedMessage, MAX_MESSAGE } from './mcp.mjs';
import { cleanName } from './names.mjs';
import { bodyForm, hasBody, judgeBody, READ_BODIES } from './passed-body.mjs';
import { passedNames } from './passed-names.mjs';
import { methodAllowed, refusedQuery, requestAllowed } from './request-rules.mjs';

/**
 * @typedef {import('./proxy.mjs').Target} Target
 * @typedef {{ config: import('../../src/core/types/gateway.ts').GatewayConfig,
 *   ca: import('../../src/core/types/gateway.ts').SessionCa, egress: import('./egress.mjs').Egress,
 *   trust: () => tls.SecureContext, log: (entry: import('./proxy.mjs').Entry) => void,
 *   decoys: import('./decoys.mjs').DecoyWatch,
 *   logins: ReadonlyMap<string, import('./secrets.mjs').Secrets> }} InterceptParts
 * @typedef {InterceptParts['config']['brokers'][number] & { names: import('./passed-names.mjs').PassedNames }} ReadRule
 */

/**
 * A function that takes over the client's tunnel to a brokered host, and returns whether it did.
 * @param {InterceptParts} parts
 * @returns {import('./proxy.mjs').ProxyParts['intercept']}
 */
export function createIntercept(parts) {
  const interceptor = new Interceptor(parts);
  return (client, target) => interceptor.takeOver(client, target);
}

/** A cookie is a login: the agent gets none. */
const COOKIES = new Set(['set-cookie']);

const COMPANION_START_MS = 30_000;
const COMPANION_RETRY_MS = 100;

/** Connects to a companion, which may be starting. @param {string} path @returns {Promise<net.Socket>} */
async function connectCompanion(path) {
  const untilMs = Date.now() + COMPANION_START_MS;
  for (;;) {
    try {
      const socket = net.connect(path);
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      if (Date.now() > untilMs) throw new Error('the MCP server does not run', { cause: error });
      await new Promise((done) => setTimeout(done, COMPANION_RETRY_MS));
    }
  }
}

class Interceptor {
  /** @param {InterceptParts} parts */
  constructor(parts) {
    this.parts = parts;
    /** By host. @type {Map<string, tls.SecureContext>} */
    this.contexts = new Map();
    /** Where the tunnel of a socket was opened to. @type {WeakMap<object, Target>} */
    this.targets = new WeakMap();
    this.turns = createTurns(parts.config.limits.connections);
    this.bodies = new Holding(READ_BODIES);
    this.brokers = parts.config.brokers.map((broker) => ({ ...broker, names: passedNames(broker) }));
    this.server = http.createServer({ requestTimeout: 0 }, (request, response) => void this.pass(request, response));
    bound(this.server, parts.config.limits);
  }

  /** @param {import('node:stream').Duplex} client @param {Target} target @returns {boolean} */
  takeOver(client, target) {
    const { config, ca } = this.parts;
    if (!this.brokers.some((broker) => broker.host === target.host)) return false;
    const context =
      this.contexts.get(target.host) ?? tls.createSecureContext(createHostCertificate(ca, target.host, Date.now()));
    this.contexts.set(target.host, context);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const secure = new tls.TLSSocket(/** @type {import('node:net').Socket} */ (client), {
      isServer: true,
      secureContext: context,
      ALPNProtocols: ['http/1.1'],
    });
    secure.on('error', () => secure.destroy());
    handshakeWithin(secure, config.limits.headMs);
    this.targets.set(secure, target);
    this.server.emit('connection', secure);
    return true;
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async pass(request, response) {
    const { log, config, decoys } = this.parts;
    const target = /** @type {Target} */ (this.targets.get(request.socket));
    const startedMs = Date.now();
    /** @type {import('./proxy.mjs').Entry} */
    let entry = { kind: 'broker', ...target, method: request.method ?? '', verdict: 'passed', up: 0, down: 0, ms: 0 };
    const passed = { up: 0, down: 0 };
    try {
      const { rules, headers } = this.judgedHeaders(request, target);
      const status = await this.turns.take(
        () => new Error('too many requests at once'),
        async () => {
          const { held, headers: ofBody, tool } = await this.bodyOf(request, rules);
          const body = held?.bytes;
          const isStreamed = body === undefined && hasBody(request);
          const through = isStreamed ? decoys.stream(request.headers['content-encoding']) : undefined;
          try {
            if (tool !== undefined) entry = { ...entry, tool: cleanName(tool) };
            decoys.judgeTexts([request.method ?? '', request.url ?? '', ...headers, ...ofBody]);
            if (body !== undefined) decoys.judgeBytes(body);
            const companion = rules.find(({ socket }) => socket !== undefined)?.socket;
            const open = (/** @type {readonly string[]} */ more) =>
              this.open(request, target, [...headers, ...more, ...ofBody], companion);
            const { out, again } = await this.withLogin(rules, open);
            const more = { without: COOKIES, body, through, ...again };
            return await exchange(request, response, out, config.limits, passed, more);
          } finally {
            held?.free();
          }
        },
      );
      log({ ...entry, verdict: 'passed', status, ...passed, ms: Date.now() - startedMs });
    } catch (error) {
      request.resume();
      const isRefused = error instanceof Refused;
      const why = error instanceof Error ? error.message : String(error);
      const more = { ...passed, ms: Date.now() - startedMs, ...decoysOf(error) };
      log({ ...entry, verdict: isRefused ? 'refused' : 'failed', why, ...more });
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(isRefused ? 403 : error instanceof Busy ? 503 : 502, { 'content-type': 'text/plain' })
          .end(`run-claude: ${why}\n`);
    }
  }

  /** The request with its login's token, and the one to send in its place when the server refuses that token.
   * @param {readonly ReadRule[]} rules those that let the request pass
   * @param {(headers: readonly string[]) => Promise<http.ClientRequest>} open */
  async withLogin(rules, open) {
    const name = rules.find(({ login }) => login !== undefined)?.login?.name;
    const login = name === undefined ? undefined : this.parts.logins.get(name);
    const secret = await login?.current();
    if (login === undefined || secret === undefined) return { out: await open([]) };
    const withToken = (/** @type {import('./secrets.mjs').Secret} */ one) =>
      open(['authorization', `Bearer ${one.value}`]);
    const again = async () => {
      const next = await login.after401(secret);
      return next === undefined ? undefined : withToken(next);
    };
    return { out: await withToken(secret), again: { again } };
  }

  /** The body of a request as it is sent on, where it was read, and the headers that describe it. Without one, the
   * request's own is forwarded. Throws Refused and Busy.
   * @param {http.IncomingMessage} request @param {readonly ReadRule[]} rules those that let the request pass
   * @returns {Promise<{ held?: import('./held-body.mjs').HeldBody, headers: string[], tool?: string }>} */
  async bodyOf(request, rules) {
    const messages = rules.flatMap(({ mcp }) => (mcp === undefined ? [] : [mcp]));
    if (messages.length > 0) return this.messageOf(request, messages);
    const names = rules.map((rule) => rule.names);
    const form = bodyForm(request, names);
    const { 'content-length': length } = request.headers;
    const own = [...(length === undefined ? [] : ['content-length', length]), ...framing(request.headers)];
    if (form === undefined) return { headers: own };
    if (form.kind === 'unread') return { headers: [...form.headers, ...own] };
    const held = await this.bodies.take(request);
    try {
      judgeBody(held.bytes, form.kind, names);
      return { held, headers: [...form.headers, 'content-length', String(held.bytes.length)] };
    } catch (error) {
      held.free();
      throw error;
    }
  }

  /** The message of MCP that a request has. Throws Refused and Busy.
   * @param {http.IncomingMessage} request @param {readonly import('./mcp.mjs').McpRule[]} rules
   * @returns {ReturnType<Interceptor['bodyOf']>} */
  async messageOf(request, rules) {
    if (request.method !== 'POST') {
      // Only a POST is read as a message: another request may have none.
      if (hasBody(request)) throw new Refused('only a POST to an MCP server has a body');
      return { headers: [] };
    }
    const { 'content-encoding': coding = 'identity' } = request.headers;
    if (coding.toLowerCase() !== 'identity') throw new Refused('the body is encoded');
    const held = await this.bodies.take(request, MAX_MESSAGE);
    try {
      // Two rules for one address: what both allow. Each of them reads the same message.
      const [message] = rules.map((rule) => judgedMessage(held.bytes, rule));
      if (message === undefined) throw new Refused('no rule reads this message');
      const { body, ...more } = message;
      held.replace(body);
      return { ...more, held, headers: ['content-type', 'application/json', 'content-length', String(body.length)] };
    } catch (error) {
      held.free();
      throw error;
    }
  }

  /** The request to the host, over verified TLS, or to a companion, over its socket; not yet sent.
   * @param {http.IncomingMessage} request @param {Target} target @param {readonly string[]} headers
   * @param {string | undefined} companion */
  async open(request, target, headers, companion) {
    const connection = companion === undefined ? await this.connect(target) : await connectCompanion(companion);
    return (companion === undefined ? https : http).request({
      createConnection: () => connection,
      method: request.method ?? '',
      path: request.url ?? '',
      headers: [...headers, 'connection', 'close'],
    });
  }

  /** @param {Target} target */
  async connect(target) {
    const { config, egress, trust } = this.parts;
    const socket = await egress.dial(target.host, target.port);
    const secure = tls.connect({ socket, servername: target.host, secureContext: trust() });
    handshakeWithin(secure, config.limits.connectMs);
    return secure;
  }

  /** The headers of the request to the host, with the secret. Throws Refused.
   * @param {http.IncomingMessage} request @param {Target} target */
  judgedHeaders(request, target) {
    const method = request.method ?? '';
    const named = hostHeader(request.rawHeaders, 443);
    const url = request.url ?? '';
    // The absolute form names its own host. A fragment ends the path for some servers only.
    if (!url.startsWith('/') || /[#\\]/.test(url)) throw new Refused('a request to a brokered host names a plain path');
    if (named?.host !== target.host || named.port !== target.port)
      throw new Refused(`the Host header is not ${target.host}`);
    // What was asked for a request must not become another protocol, or another user's request.
    if (request.headers.upgrade !== undefined) throw new Refused(`${target.host}: no upgrade passes`);
    const rules = this.judgedRules(target, method, url);
    const replaced = this.brokers.flatMap(({ host, secret, login }) => [
      ...(secret === undefined || host !== target.host ? [] : [secret.header.toLowerCase()]),
      ...(login === undefined || host !== target.host ? [] : ['authorization']),
    ]);
    const lists = rules.map(({ names }) => new Set([...names.headers].filter((name) => !replaced.includes(name))));
    const headers = ['Host', String(request.headers.host), ...listedHeaders(request.rawHeaders, lists)];
    for (const { secret } of rules) if (secret !== undefined) headers.push(secret.header, secret.value);
    return { rules, headers };
  }

  /** The rules whose secrets the request gets. Of the rules for single requests, those that name this one; all others
   * must let it pass. Throws Refused.
   * @param {Target} target @param {string} method @param {string} url @returns {readonly ReadRule[]} */
  judgedRules({ host }, method, url) {
    const all = this.brokers.filter((broker) => broker.host === host);
    const others = all.filter(({ passes }) => !('requests' in passes));
    if (others.some(({ passes }) => 'methods' in passes && !methodAllowed(passes.methods, method, url)))
      throw new Refused(`${method} to ${host} is not among the methods that the brokered secret is for`);
    const named = all.filter(({ passes }) => 'requests' in passes && requestAllowed(passes.requests, method, url));
    if (named.length === 0 && others.length < all.length)
      throw new Refused(`${method} ${cleanName(url)} is not among the requests to ${host} that are allowed`);
    const refusal = (/** @type {ReadRule} */ { names }) => refusedQuery(url, names.parameters);
    const fitting = named.filter((rule) => refusal(rule) === undefined);
    const why = [...(fitting.length === 0 ? named : []), ...others].map(refusal).find((one) => one !== undefined);
    if (why !== undefined) throw new Refused(`${method} ${cleanName(url)}: ${why}`);
    return [...fitting, ...others];
  }
}

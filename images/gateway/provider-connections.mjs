// Requests to the provider over connections that are kept alive: direct, by the host's proxy, or by the host's side
// (relay).
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { handshakeWithin } from './bounds.mjs';
import { forwardedHeaders, OVERRIDES } from './headers.mjs';
import { credentialHeaders } from './provider-apis.mjs';

/**
 * @typedef {import('../../src/core/types/agent/credential.ts').Secret} Secret
 * @typedef {{ config: import('../../src/core/types/gateway.ts').GatewayConfig, egress: import('./egress.mjs').Egress,
 *   relay: ReturnType<typeof import('./relay.mjs').createRelay>, trust: () => tls.SecureContext }} ConnectionParts
 */

/** @param {string} host */
const isName = (host) => /[a-z]/i.test(host) && !host.includes(':');

/** @param {URL} url @returns {{ isSecure: boolean, host: string, port: number }} */
function endpointOf(url) {
  const isSecure = url.protocol === 'https:';
  return { isSecure, host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || (isSecure ? 443 : 80)) };
}

/** The agent (of Node's HTTP client) whose connections reach the provider.
 * @param {ConnectionParts} parts @param {URL} base @param {boolean} keepAlive */
function providerAgent({ config, egress, relay, trust }, base, keepAlive) {
  const { isSecure, host, port } = endpointOf(base);
  const agent = new (isSecure ? https.Agent : http.Agent)({ keepAlive, maxFreeSockets: 16 });
  /** @returns {Promise<import('node:stream').Duplex>} */
  const dial = () =>
    config.provider?.relay === true ? Promise.resolve(relay.open('provider')) : egress.dial(host, port);
  /** @param {unknown} _options @param {(error: Error | null, socket?: import('node:stream').Duplex) => void} done */
  const createConnection = (_options, done) => {
    dial()
      .then((socket) => {
        if (!isSecure) return done(null, dropWhenEnded(socket));
        const servername = isName(host) ? { servername: host } : {};
        const secure = tls.connect({ socket, ...servername, host, secureContext: trust() });
        handshakeWithin(secure, config.limits.connectMs);
        // What was decrypted may not be read yet when the socket below ends: that of TLS ends after it.
        secure.once('secureConnect', () => done(null, dropWhenEnded(secure)));
        secure.once('error', (error) => done(error));
      })
      .catch((error) => done(error));
  };
  return Object.assign(agent, { createConnection });
}

/** A connection whose other side has ended carries no more requests. Half open, it would stay among the kept ones.
 * @template {import('node:stream').Duplex} T @param {T} socket @returns {T} */
function dropWhenEnded(socket) {
  socket.once('end', () => void socket.destroy());
  return socket;
}

/** How a kept connection fails that the other side had ended, or was about to end, when a request went out on it. */
const ENDED = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** No accept-encoding: usage is counted in the plain answer. */
const DROPPED = new Set([
  ...['host', 'content-length', 'accept-encoding', 'expect'],
  // The body was serialised again: in another charset or coding the provider would read another one.
  ...['content-type', 'content-encoding', 'content-language'],
  ...OVERRIDES,
]);
/** Words in the names of headers that say who asks, which account pays, and which data a request can reach. These are the
 * credential's own: providers and the proxies before them each have other names (x-api-key, cf-aig-authorization). */
const OF_CREDENTIAL = new Set(
  'auth authorization authentication token key apikey secret cookie credential credentials password account organization org project'.split(
    ' ',
  ),
);
const REPLACED_HEADERS = {
  has: (/** @type {string} */ name) =>
    DROPPED.has(name) ||
    /^x-(amz|amzn|goog|forwarded)-/.test(name) ||
    name.split('-').some((word) => OF_CREDENTIAL.has(word)),
};

/** The provider of a session. */
export class Provider {
  /** @param {ConnectionParts} parts @param {NonNullable<ConnectionParts['config']['provider']>} provider */
  constructor(parts, { url, api }) {
    this.base = new URL(url);
    this.api = api ?? /** @type {const} */ ({ kind: 'anthropic' });
    this.kept = providerAgent(parts, this.base, true);
    this.fresh = providerAgent(parts, this.base, false);
  }

  /**
   * Resolves when the provider's answer begins. A request is sent a second time, on a new connection, where a kept one
   * ended before it answered anything: servers end idle connections when they like.
   * @param {http.IncomingMessage} request @param {string} target @param {Buffer} body @param {Secret} secret
   * @param {AbortSignal} signal @returns {Promise<http.IncomingMessage>}
   */
  async send(request, target, body, secret, signal) {
    const { base } = this;
    const { isSecure, host, port } = endpointOf(base);
    const method = request.method ?? 'GET';
    const path = base.pathname.replace(/\/$/, '') + target;
    const headers = forwardedHeaders(request.rawHeaders, REPLACED_HEADERS);
    headers.push('host', base.host, 'accept-encoding', 'identity');
    if (method === 'POST') headers.push('content-type', 'application/json', 'content-length', String(body.length));
    headers.push(...credentialHeaders(this.api, secret, { method, host: base.host, path, body }));
    const open = (/** @type {http.Agent} */ agent) =>
      (isSecure ? https : http).request({ agent, host, port, method, path, headers, signal });
    const first = new Attempt(open(this.kept), body);
    try {
      return await first.answer;
    } catch (error) {
      if (signal.aborted || !first.isRepeatable(/** @type {NodeJS.ErrnoException} */ (error))) throw error;
      return await new Attempt(open(this.fresh), body).answer;
    }
  }
}

/** One request on one connection. */
class Attempt {
  /** @param {http.ClientRequest} request @param {Buffer} body */
  constructor(request, body) {
    this.request = request;
    this.isAnswered = false;
    const heard = () => {
      this.isAnswered = true;
    };
    request.once('socket', (socket) => {
      socket.once('data', heard);
      request.once('close', () => socket.off('data', heard));
    });
    /** @type {Promise<http.IncomingMessage>} */
    this.answer = new Promise((done, failed) => {
      request.once('response', done);
      request.once('error', failed).once('close', () => failed(new Error('it gave no answer')));
      request.end(body);
    });
  }

  /** Whether the connection was kept from an earlier request, and has ended without a byte of an answer.
   * @param {NodeJS.ErrnoException} error */
  isRepeatable({ code = '' }) {
    return this.request.reusedSocket && !this.isAnswered && ENDED.has(code);
  }
}

// Requests to the provider over connections that are kept alive: direct, by the host's proxy, or by the host's side
// (relay).
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { handshakeWithin } from './bounds.mjs';
import { forwardedHeaders, OVERRIDES } from './headers.mjs';
import { credentialHeaders } from './provider-apis.mjs';

/**
 * @typedef {import('../../src/types/credential.ts').Secret} Secret
 * @typedef {{ config: import('../../src/types/gateway.ts').GatewayConfig, egress: import('./egress.mjs').Egress,
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
 * @param {ConnectionParts} parts @param {URL} base */
function providerAgent({ config, egress, relay, trust }, base) {
  const { isSecure, host, port } = endpointOf(base);
  const agent = new (isSecure ? https.Agent : http.Agent)({ keepAlive: true, maxFreeSockets: 16 });
  /** @returns {Promise<import('node:stream').Duplex>} */
  const dial = () =>
    config.provider?.relay === true ? Promise.resolve(relay.open('provider')) : egress.dial(host, port);
  /** @param {unknown} _options @param {(error: Error | null, socket?: import('node:stream').Duplex) => void} done */
  const createConnection = (_options, done) => {
    dial()
      .then((socket) => {
        if (!isSecure) return done(null, socket);
        const servername = isName(host) ? { servername: host } : {};
        const secure = tls.connect({ socket, ...servername, host, secureContext: trust() });
        handshakeWithin(secure, config.limits.connectMs);
        secure.once('secureConnect', () => done(null, secure));
        secure.once('error', (error) => done(error));
      })
      .catch((error) => done(error));
  };
  return Object.assign(agent, { createConnection });
}

/** The agent's credential headers never pass. No accept-encoding: usage is counted in the plain answer. */
const DROPPED = new Set([
  ...['host', 'authorization', 'x-api-key', 'api-key', 'cookie', 'content-length', 'accept-encoding', 'expect'],
  // The body was serialised again: in another charset or coding the provider would read another one.
  ...['content-type', 'content-encoding', 'content-language'],
  // Which account pays, and which data a request can reach: the credential's own.
  ...['chatgpt-account-id', 'openai-organization', 'openai-project'],
  ...OVERRIDES,
]);
const REPLACED_HEADERS = {
  has: (/** @type {string} */ name) => DROPPED.has(name) || /^x-(amz|amzn|goog|forwarded)-/.test(name),
};

/** The provider of a session. */
export class Provider {
  /** @param {ConnectionParts} parts @param {NonNullable<ConnectionParts['config']['provider']>} provider */
  constructor(parts, { url, api }) {
    this.base = new URL(url);
    this.api = api ?? /** @type {const} */ ({ kind: 'anthropic' });
    this.agent = providerAgent(parts, this.base);
  }

  /** Resolves when the provider's answer begins.
   * @param {http.IncomingMessage} request @param {string} target @param {Buffer} body @param {Secret} secret
   * @param {AbortSignal} signal @returns {Promise<http.IncomingMessage>} */
  send(request, target, body, secret, signal) {
    const { base, agent } = this;
    const { isSecure, host, port } = endpointOf(base);
    const method = request.method ?? 'GET';
    const path = base.pathname.replace(/\/$/, '') + target;
    const headers = forwardedHeaders(request.rawHeaders, REPLACED_HEADERS);
    headers.push('host', base.host, 'accept-encoding', 'identity');
    if (method === 'POST') headers.push('content-type', 'application/json', 'content-length', String(body.length));
    headers.push(...credentialHeaders(this.api, secret, { method, host: base.host, path, body }));
    return new Promise((done, failed) => {
      const up = (isSecure ? https : http).request({ agent, host, port, method, path, headers, signal });
      up.once('response', done);
      up.once('error', failed).once('close', () => failed(new Error('it gave no answer')));
      up.end(body);
    });
  }
}

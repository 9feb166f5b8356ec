// Connections to the provider, kept alive: direct, by the host's proxy, or by the host's side (relay).
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { handshakeWithin } from './bounds.mjs';

/**
 * @typedef {{ config: import('../../src/types/gateway.ts').GatewayConfig, egress: import('./egress.mjs').Egress,
 *   relay: ReturnType<typeof import('./relay.mjs').createRelay>, trust: () => tls.SecureContext }} ConnectionParts
 */

/** @param {string} host */
const isName = (host) => /[a-z]/i.test(host) && !host.includes(':');

/** @param {URL} url @returns {{ isSecure: boolean, host: string, port: number }} */
export function endpointOf(url) {
  const isSecure = url.protocol === 'https:';
  return { isSecure, host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || (isSecure ? 443 : 80)) };
}

/** The agent (of Node's HTTP client) whose connections reach the provider.
 * @param {ConnectionParts} parts @param {URL} base */
export function providerAgent({ config, egress, relay, trust }, base) {
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

// Brokered secrets: TLS to a brokered host ends here, under the session's CA that only the agent's container trusts;
// each request is judged by its method and gets the secret in its header, over our own verified TLS to the host.
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { bound, createTurns, handshakeWithin } from './bounds.mjs';
import { createHostCertificate } from './certificate.mjs';
import { Refused } from './egress.mjs';
import { exchange } from './exchange.mjs';
import { forwardedHeaders, framing, hostHeader, OVERRIDES } from './headers.mjs';

/** A repository's path in plain characters: nothing that a server could decode or normalise into another one. */
const UPLOAD_PACK = /^(\/(?!\.{1,2}\/)[A-Za-z0-9._~-]+)+\/git-upload-pack$/;

/**
 * Whether the rule's methods let the request pass. git's own reads are POSTs, and the first step of a push is a GET.
 * @param {readonly string[]} methods @param {string} method @param {string} url
 */
export function methodAllowed(methods, method, url) {
  const [path = '', query = ''] = url.split('?', 2);
  const writes = !methods.every((one) => one === 'GET' || one === 'HEAD' || one === 'OPTIONS');
  const push =
    path.endsWith('/git-receive-pack') ||
    (path.endsWith('/info/refs') && /receive/i.test(decodeURIComponentSafe(query)));
  if (push) return writes && methods.includes('POST');
  if (method === 'POST' && UPLOAD_PACK.test(url)) return methods.includes('GET');
  return methods.includes(method) || (method === 'HEAD' && methods.includes('GET'));
}

/** @param {string} text */
function decodeURIComponentSafe(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    // A query that can't be read is taken for a push: refused under read-only methods.
    if (error instanceof URIError) return 'receive';
    throw error;
  }
}

/**
 * @param {import('../../src/types/gateway.ts').GatewayConfig} config
 * @param {import('../../src/types/gateway.ts').SessionCa} ca @param {import('./egress.mjs').Egress} egress
 * @param {() => tls.SecureContext} trust @param {(entry: import('./proxy.mjs').Entry) => void} log
 * @returns {import('./proxy.mjs').ProxyParts['intercept']} true: the client's tunnel is taken over
 */
export function createIntercept(config, ca, egress, trust, log) {
  /** @type {Map<string, tls.SecureContext>} */
  const contexts = new Map();
  /** @type {WeakMap<object, import('./proxy.mjs').Target>} */
  const targets = new WeakMap();
  const { limits } = config;
  const turns = createTurns(limits.connections);
  const full = () => new Error('too many requests at once');

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async function pass(request, response) {
    const target = /** @type {import('./proxy.mjs').Target} */ (targets.get(request.socket));
    const started = Date.now();
    const method = request.method ?? '';
    const entry = /** @type {const} */ ({ kind: 'broker', ...target, method });
    const passed = { up: 0, down: 0 };
    try {
      const headers = judged(request, target);
      const status = await turns.take(full, async () => {
        const socket = await egress.dial(target.host, target.port);
        const secure = tls.connect({ socket, servername: target.host, secureContext: trust() });
        handshakeWithin(secure, limits.connectMs);
        const out = https.request({
          createConnection: () => secure,
          method,
          path: request.url ?? '',
          headers: [...headers, 'connection', 'close', ...framing(request.headers)],
        });
        return exchange(request, response, out, limits, passed);
      });
      log({ ...entry, verdict: 'passed', status, ...passed, ms: Date.now() - started });
    } catch (error) {
      request.resume();
      const refused = error instanceof Refused;
      const why = error instanceof Error ? error.message : String(error);
      log({ ...entry, verdict: refused ? 'refused' : 'failed', why, ...passed, ms: Date.now() - started });
      if (response.headersSent) response.destroy();
      else response.writeHead(refused ? 403 : 502, { 'content-type': 'text/plain' }).end(`run-claude: ${why}\n`);
    }
  }

  /** The headers that it goes on with, the secret among them. Throws Refused.
   * @param {http.IncomingMessage} request @param {import('./proxy.mjs').Target} target */
  function judged(request, target) {
    const method = request.method ?? '';
    const named = hostHeader(request.rawHeaders, 443);
    const url = request.url ?? '';
    // The absolute form names a host of its own, a fragment ends the path for some servers and not for others.
    if (!url.startsWith('/') || /[#\\]/.test(url)) throw new Refused('a request to a brokered host names a plain path');
    if (named?.host !== target.host || named.port !== target.port)
      throw new Refused(`the Host header is not ${target.host}`);
    const rules = config.brokers.filter((broker) => broker.host === target.host);
    if (!rules.every((rule) => methodAllowed(rule.methods, method, url)))
      throw new Refused(`${method} to ${target.host} is not among the methods that the brokered secret is for`);
    const ours = rules.map((rule) => rule.header.toLowerCase());
    const headers = forwardedHeaders(request.rawHeaders, new Set([...OVERRIDES, ...ours]));
    for (const rule of rules) headers.push(rule.header, rule.value);
    return headers;
  }

  const server = http.createServer({ requestTimeout: 0 }, (request, response) => void pass(request, response));
  bound(server, limits);

  return (client, target) => {
    if (!config.brokers.some((broker) => broker.host === target.host)) return false;
    const context =
      contexts.get(target.host) ?? tls.createSecureContext(createHostCertificate(ca, target.host, Date.now()));
    contexts.set(target.host, context);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const secure = new tls.TLSSocket(/** @type {import('node:net').Socket} */ (client), {
      isServer: true,
      secureContext: context,
      ALPNProtocols: ['http/1.1'],
    });
    secure.on('error', () => secure.destroy());
    handshakeWithin(secure, limits.headMs);
    targets.set(secure, target);
    server.emit('connection', secure);
    return true;
  };
}

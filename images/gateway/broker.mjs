// The provider's API for the agent: inference endpoints only, the placeholder replaced by the real credential, answers
// streamed untouched. Everything else is refused in one line, or answered quietly where the client asks at start-up.
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { Refused } from './egress.mjs';
import { forwardedHeaders } from './headers.mjs';
import { cleanName, hostName } from './names.mjs';
import { Unauthorised } from './secrets.mjs';
import { UsageReader } from './usage.mjs';

/** The API itself takes 32 MB. */
const MAX_BODY = 33 * 1024 * 1024;

const PASSED = [
  { method: 'POST', path: /^\/v1\/messages$/, counted: true },
  { method: 'POST', path: /^\/v1\/messages\/count_tokens$/, counted: false },
  { method: 'GET', path: /^\/v1\/models(\/[A-Za-z0-9._-]+)?$/, counted: false },
];

/** Names of credential headers: the agent's never pass. accept-encoding: the answer is counted, so it comes plain. */
const OURS = new Set(['host', 'authorization', 'x-api-key', 'cookie', 'content-length', 'accept-encoding', 'expect']);

/**
 * @typedef {import('../../src/types/gateway.ts').GatewayConfig} GatewayConfig
 * @typedef {import('../../src/types/credential.ts').Secret} Secret
 * @typedef {{ config: GatewayConfig, egress: import('./egress.mjs').Egress,
 *   relay: ReturnType<typeof import('./relay.mjs').createRelay>, secrets: import('./secrets.mjs').Secrets,
 *   budget: ReturnType<typeof import('./usage.mjs').createBudget>, ca: readonly string[],
 *   log: (entry: Omit<import('../../src/types/gateway.ts').NetworkEntry, 'at'>) => void,
 *   tellUsage: () => void }} BrokerParts
 * What a client's leaving does: ends the request, unless its answer stays for the count.
 * @typedef {{ stop: AbortController, stays: boolean }} Leaving
 */

/** @param {http.ServerResponse} response @param {number} status @param {string} type @param {string} message */
function fail(response, status, type, message) {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-should-retry': status >= 500 ? 'true' : 'false',
  });
  response.end(JSON.stringify({ type: 'error', error: { type, message: `run-claude: ${message}` } }));
}

/** @param {http.IncomingMessage} request @returns {Promise<Buffer>} */
async function bodyOf(request) {
  /** @type {Buffer[]} */
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY) throw new Refused('the request is larger than 32 MB');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * What the provider itself would fetch for the agent: a way out around the policy, so it is judged by it.
 * @param {unknown} value @param {(host: string, port: number) => void} judge throws Refused
 */
function judgeFetches(value, judge) {
  if (Array.isArray(value)) {
    for (const one of value) judgeFetches(one, judge);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const record = /** @type {Record<string, unknown>} */ (value);
  if (Array.isArray(record['mcp_servers']) && record['mcp_servers'].length > 0)
    throw new Refused('MCP servers that the provider connects to are not passed');
  if (typeof record['type'] === 'string' && record['type'].startsWith('web_fetch_'))
    throw new Refused('the web_fetch tool that runs at the provider is not passed');
  if (record['type'] === 'url' && typeof record['url'] === 'string') {
    const url = URL.canParse(record['url']) ? new URL(record['url']) : undefined;
    const host = url === undefined ? undefined : hostName(url.hostname);
    if (url === undefined || host === undefined) throw new Refused('a URL for the provider to fetch has no plain host');
    judge(host, Number(url.port || (url.protocol === 'http:' ? 80 : 443)));
  }
  // A tool's own input and schema are the agent's words, not the provider's orders.
  for (const [name, one] of Object.entries(record))
    if (name !== 'input' && name !== 'input_schema') judgeFetches(one, judge);
}

/** The body as it is sent: written anew from what was judged, so that both sides read the same.
 * @param {Buffer} bytes @param {(host: string, port: number) => void} judge */
function judgedBody(bytes, judge) {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refused('the request is no JSON');
    throw error;
  }
  judgeFetches(value, judge);
  const model = /** @type {{ model?: unknown } | null} */ (value)?.model;
  return { body: Buffer.from(JSON.stringify(value)), model: typeof model === 'string' ? model : '' };
}

/** Connections to the provider, kept alive, by whatever way the host's side has named.
 * @param {BrokerParts} parts @param {URL} base */
function agentFor({ config, egress, relay, ca }, base) {
  const secure = base.protocol === 'https:';
  const port = Number(base.port || (secure ? 443 : 80));
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const agent = new (secure ? https.Agent : http.Agent)({ keepAlive: true, maxFreeSockets: 16 });
  /** @returns {Promise<import('node:stream').Duplex>} */
  const way = () =>
    config.provider?.relay === true ? Promise.resolve(relay.open('provider')) : egress.dial(host, port);
  /** @param {unknown} _options @param {(error: Error | null, socket?: import('node:stream').Duplex) => void} done */
  const createConnection = (_options, done) => {
    way()
      .then((socket) => {
        if (!secure) return done(null, socket);
        const over = tls.connect({ socket, ...(hostIsName(host) ? { servername: host } : {}), host, ca: [...ca] });
        over.once('secureConnect', () => done(null, over));
        over.once('error', (error) => done(error));
      })
      .catch((error) => done(error));
  };
  return Object.assign(agent, { createConnection });
}

/** @param {string} host */
const hostIsName = (host) => /[a-z]/i.test(host) && !host.includes(':');

/** @param {BrokerParts} parts @returns {http.Server} */
export function createBroker(parts) {
  const { config, secrets, budget, log } = parts;
  const base = config.provider === undefined ? undefined : new URL(config.provider.url);
  const agent = base === undefined ? undefined : agentFor(parts, base);

  /** @param {http.IncomingMessage} request @param {string} path @param {Buffer} body @param {Secret} secret
   * @param {AbortSignal} signal @returns {Promise<http.IncomingMessage>} */
  function send(request, path, body, secret, signal) {
    const url = /** @type {URL} */ (base);
    const headers = forwardedHeaders(request.rawHeaders, OURS);
    headers.push('host', url.host, 'accept-encoding', 'identity');
    if (request.method === 'POST') headers.push('content-length', String(body.length));
    if (secret.kind === 'api-key') headers.push('x-api-key', secret.value);
    else headers.push('authorization', `Bearer ${secret.value}`);
    return new Promise((done, failed) => {
      const up = (url.protocol === 'https:' ? https : http).request({
        ...(agent === undefined ? {} : { agent }),
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port || (url.protocol === 'https:' ? 443 : 80),
        method: request.method ?? 'GET',
        path: url.pathname.replace(/\/$/, '') + path,
        headers,
        signal,
      });
      up.once('response', done);
      up.once('error', failed);
      up.end(body);
    });
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response @param {Leaving} leaving */
  async function answer(request, response, leaving) {
    const { signal } = leaving.stop;
    const target = request.url ?? '';
    const mark = target.indexOf('?');
    const name = mark < 0 ? target : target.slice(0, mark);
    const query = mark < 0 ? undefined : target.slice(mark + 1);
    if (name === '/api/hello' && (request.method === 'HEAD' || request.method === 'GET')) {
      request.resume();
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(request.method === 'HEAD' ? '' : '{"message":"hello"}');
      return { quiet: true, status: 200, down: 0, up: 0 };
    }
    const passed = PASSED.find((one) => one.method === request.method && one.path.test(name));
    const oddQuery = query !== undefined && !/^[A-Za-z0-9_=&.,%-]{0,200}$/.test(query);
    if (passed === undefined || oddQuery || target.includes('#'))
      // Flags, profiles and telemetry that the client asks for by itself: no news for the person.
      throw new Refused(`${request.method} ${cleanName(name)}: only inference requests pass the gateway`, {
        quiet: /^\/(api|v1\/(oauth|toggles|environments|code|sessions|mcp|session_ingress|ultrareview))(\/|$)/.test(
          name,
        ),
      });
    if (config.provider === undefined) throw new Refused(config.noSecret);
    const spent = passed.counted ? budget.exceeded() : undefined;
    if (spent !== undefined) {
      parts.tellUsage();
      throw new Refused(`${spent}; the session's work is kept`);
    }
    const raw = await bodyOf(request);
    const { body, model } =
      request.method === 'POST'
        ? judgedBody(raw, (host, port) => void parts.egress.ruleFor(host, port, [443, 80]))
        : { body: Buffer.alloc(0), model: '' };
    if (passed.counted) budget.countRequest();
    const first = await secrets.current();
    if (first === undefined) throw new Unauthorised(config.noSecret);
    /** @type {http.IncomingMessage} */
    let answered;
    try {
      answered = await sendWith(first, (secret) => send(request, target, body, secret, signal));
    } catch (error) {
      // Sent and not waited for: the provider has read it all the same.
      if (passed.counted && signal.aborted) budget.countTokens(new UsageReader(false, body.length), model);
      throw error;
    }
    return pass(answered, response, passed.counted && answered.statusCode === 200, model, body.length, leaving);
  }

  /** Once more with a new credential after a 401. @param {Secret} first
   * @param {(secret: Secret) => Promise<http.IncomingMessage>} sendIt */
  async function sendWith(first, sendIt) {
    const answered = await sendIt(first);
    if (answered.statusCode !== 401) return answered;
    try {
      const next = await secrets.after401(first);
      if (next === undefined) return answered;
      answered.resume();
      return await sendIt(next);
    } catch (error) {
      answered.destroy();
      throw error;
    }
  }

  /** @param {http.IncomingMessage} answered @param {http.ServerResponse} response @param {boolean} counted
   * @param {string} model @param {number} up @param {Leaving} leaving */
  async function pass(answered, response, counted, model, up, leaving) {
    const status = answered.statusCode ?? 502;
    const stream = String(answered.headers['content-type']).startsWith('text/event-stream');
    const reader = new UsageReader(stream, up);
    // An answer in one piece is made and paid for: it is read to its end, where its count is, whoever leaves before.
    leaving.stays = counted && !stream;
    response.writeHead(status, forwardedHeaders(answered.rawHeaders, new Set(['set-cookie'])));
    response.flushHeaders();
    let down = 0;
    try {
      for await (const chunk of answered) {
        down += chunk.length;
        if (counted) reader.push(chunk);
        if (!response.closed && !response.write(chunk))
          await new Promise((done) => response.once('drain', done).once('close', done));
      }
      response.end();
    } finally {
      if (counted) budget.countTokens(reader, model);
      parts.tellUsage();
    }
    return { quiet: false, status, down, up };
  }

  const host = base?.hostname ?? 'provider';
  const port = Number(base?.port || 443);
  const server = http.createServer({ maxHeaderSize: 64 * 1024, requestTimeout: 0 }, (request, response) => {
    const started = Date.now();
    const method = request.method ?? '';
    /** @type {Leaving} */
    const leaving = { stop: new AbortController(), stays: false };
    const { stop } = leaving;
    response.once('close', () => {
      if (!leaving.stays) stop.abort();
    });
    answer(request, response, leaving)
      .then(({ quiet, status, up, down }) =>
        log({
          kind: 'provider',
          verdict: 'passed',
          host,
          port,
          method,
          status,
          up,
          down,
          ms: Date.now() - started,
          quiet,
        }),
      )
      .catch((error) => {
        request.resume();
        const refused = error instanceof Refused;
        const why =
          refused || error instanceof Unauthorised ? error.message : `the provider can't be reached: ${error.message}`;
        if (refused) fail(response, 403, 'permission_error', why);
        else if (error instanceof Unauthorised) fail(response, 401, 'authentication_error', why);
        else fail(response, 502, 'api_error', why);
        const gone = stop.signal.aborted && !response.writableFinished;
        const quiet = (refused && error.quiet) || gone;
        const verdict = refused ? 'refused' : 'failed';
        log({ kind: 'provider', verdict, host, port, method, why, quiet, up: 0, down: 0, ms: Date.now() - started });
      });
  });
  server.headersTimeout = config.limits.headMs;
  return server;
}

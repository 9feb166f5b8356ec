// The provider's API for the agent: inference endpoints only, the placeholder replaced by the real credential, answers
// streamed untouched. Everything else is refused in one line, or answered quietly where the client asks at start-up.
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { createTurns, handshakeWithin } from './bounds.mjs';
import { Client } from './client.mjs';
import { Refused } from './egress.mjs';
import { forwardedHeaders, OVERRIDES } from './headers.mjs';
import { cleanName } from './names.mjs';
import { credentialHeaders, passedBy, refusesCredential, secretWords } from './provider-apis.mjs';
import { Busy, createHolding, judgedBody } from './request-body.mjs';
import { Unauthorised } from './secrets.mjs';
import { UsageReader } from './usage.mjs';

/** Names of credential headers: the agent's never pass. accept-encoding: the answer is counted, so it comes plain. */
const DROPPED = new Set([
  ...['host', 'authorization', 'x-api-key', 'api-key', 'cookie', 'content-length', 'accept-encoding', 'expect'],
  ...OVERRIDES,
]);
const OURS = { has: (/** @type {string} */ name) => DROPPED.has(name) || /^x-(amz|amzn|goog|forwarded)-/.test(name) };

/** Of an answer that is no success, in which some servers repeat what they were sent. */
const MAX_ERROR = 1024 * 1024;

/**
 * @typedef {import('../../src/types/gateway.ts').GatewayConfig} GatewayConfig
 * @typedef {import('../../src/types/credential.ts').Secret} Secret
 * @typedef {{ config: GatewayConfig, egress: import('./egress.mjs').Egress,
 *   relay: ReturnType<typeof import('./relay.mjs').createRelay>, secrets: import('./secrets.mjs').Secrets,
 *   budget: ReturnType<typeof import('./usage.mjs').createBudget>, trust: () => tls.SecureContext,
 *   log: (entry: Omit<import('../../src/types/gateway.ts').NetworkEntry, 'at'>) => void,
 *   tellUsage: (limit?: boolean) => void }} BrokerParts
 * What a client's leaving does: ends the request, unless its answer stays for the count.
 * @typedef {{ client: Client, stop: AbortController, stays: boolean }} Leaving
 * @typedef {{ request: http.IncomingMessage, target: string, body: Buffer, model: string, counted: boolean }} Asked
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

/** @param {http.IncomingMessage} answered */
const codingOf = (answered) => (answered.headers['content-encoding'] ?? 'identity').toLowerCase();

/** The text without any of the words, byte for byte otherwise. @param {string} text @param {readonly string[]} words */
const without = (text, words) => words.reduce((left, word) => left.replaceAll(word, '[credential]'), text);

/** Connections to the provider, kept alive, by whatever way the host's side has named.
 * @param {BrokerParts} parts @param {URL} base */
function agentFor({ config, egress, relay, trust }, base) {
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
        const over = tls.connect({
          socket,
          ...(hostIsName(host) ? { servername: host } : {}),
          host,
          secureContext: trust(),
        });
        handshakeWithin(over, config.limits.connectMs);
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
  const api = config.provider?.api ?? { kind: 'anthropic' };
  const holding = createHolding();
  const turns = createTurns(config.limits.connections);
  const full = () => new Busy('too many requests at once');

  /** @param {http.IncomingMessage} request @param {string} path @param {Buffer} body @param {Secret} secret
   * @param {AbortSignal} signal @returns {Promise<http.IncomingMessage>} */
  function send(request, path, body, secret, signal) {
    const url = /** @type {URL} */ (base);
    const method = request.method ?? 'GET';
    const full = url.pathname.replace(/\/$/, '') + path;
    const headers = forwardedHeaders(request.rawHeaders, OURS);
    headers.push('host', url.host, 'accept-encoding', 'identity');
    if (method === 'POST') headers.push('content-length', String(body.length));
    headers.push(...credentialHeaders(api, secret, { method, host: url.host, path: full, body }));
    return new Promise((done, failed) => {
      const up = (url.protocol === 'https:' ? https : http).request({
        ...(agent === undefined ? {} : { agent }),
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port || (url.protocol === 'https:' ? 443 : 80),
        method,
        path: full,
        headers,
        signal,
      });
      up.once('response', done);
      up.once('error', failed).once('close', () => failed(new Error('it gave no answer')));
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
    const passed = target.includes('#') ? undefined : passedBy(api, request.method ?? '', name, query);
    if (passed === undefined)
      // Flags, profiles and telemetry that the client asks for by itself: no news for the person.
      throw new Refused(`${request.method} ${cleanName(name)}: only inference requests pass the gateway`, {
        quiet:
          /^\/(api|inference-profiles|v1\/(oauth|toggles|environments|code|sessions|mcp|session_ingress|ultrareview))(\/|$)/.test(
            name,
          ),
      });
    if (config.provider === undefined) throw new Refused(config.noSecret);
    const held = await holding.take(request);
    try {
      const { body, model } =
        request.method === 'POST'
          ? judgedBody(held.bytes, (host, port) => void parts.egress.ruleFor(host, port, [443, 80]))
          : { body: Buffer.alloc(0), model: '' };
      if (passed.counted) countRequest();
      const asked = { request, target, body, model: passed.model ?? model, counted: passed.counted };
      const { answered, secret } = await answerTo(asked, signal);
      held.free();
      const counted = passed.counted && answered.statusCode === 200;
      if (answered.statusCode !== 200) return await passFailure(answered, response, secretWords(secret), body.length);
      return await pass(answered, response, { ...asked, counted }, leaving);
    } finally {
      held.free();
    }
  }

  /** In one step with the limit, so that requests side by side do not slip past it, and told at once, so that nothing
   * is forgotten when the gateway ends meanwhile. Throws Refused. */
  function countRequest() {
    const spent = budget.exceeded();
    if (spent === undefined) budget.countRequest();
    // The last request that is allowed has its answer before the session is stopped.
    parts.tellUsage(spent !== undefined);
    if (spent !== undefined) throw new Refused(`${spent}; the session's work is kept`);
  }

  /** @param {Asked} asked @param {AbortSignal} signal */
  async function answerTo({ request, target, body, model, counted }, signal) {
    const first = await secrets.current();
    if (first === undefined) throw new Unauthorised(config.noSecret);
    try {
      return await sendWith(first, (secret) => send(request, target, body, secret, signal));
    } catch (error) {
      // Sent and not waited for: the provider has read it all the same.
      if (counted && signal.aborted) {
        budget.countTokens(new UsageReader('', body.length), model);
        parts.tellUsage();
      }
      throw error;
    }
  }

  /** Once more with a new credential after a 401. @param {Secret} first
   * @param {(secret: Secret) => Promise<http.IncomingMessage>} sendIt
   * @returns {Promise<{ answered: http.IncomingMessage, secret: Secret }>} */
  async function sendWith(first, sendIt) {
    const answered = await sendIt(first);
    if (!refusesCredential(api, answered)) return { answered, secret: first };
    try {
      const next = await secrets.after401(first);
      if (next === undefined) return { answered, secret: first };
      answered.resume();
      return { answered: await sendIt(next), secret: next };
    } catch (error) {
      answered.destroy();
      throw error;
    }
  }

  /** No success: without the credential, should the server have repeated what it was sent.
   * @param {http.IncomingMessage} answered @param {http.ServerResponse} response @param {readonly string[]} words
   * @param {number} up */
  async function passFailure(answered, response, words, up) {
    let text = '';
    // In another coding than the one that was asked for, the credential could not be found in it.
    if (codingOf(answered) !== 'identity') {
      answered.destroy();
      throw new Error(`it answered ${answered.statusCode} in a coding of its own`);
    }
    for await (const chunk of answered) {
      text += chunk.toString('latin1');
      if (text.length > MAX_ERROR) throw new Error(`it answered ${answered.statusCode} at great length`);
    }
    const dropped = new Set(['set-cookie', 'content-length']);
    const headers = forwardedHeaders(answered.rawHeaders, dropped).map((value) => without(value, words));
    const body = Buffer.from(without(text, words), 'latin1');
    response.writeHead(answered.statusCode ?? 502, headers).end(body);
    parts.tellUsage();
    return { quiet: false, status: answered.statusCode ?? 502, down: text.length, up };
  }

  /** @param {http.IncomingMessage} answered @param {http.ServerResponse} response @param {Asked} asked
   * @param {Leaving} leaving */
  async function pass(answered, response, { body, model, counted }, leaving) {
    const status = answered.statusCode ?? 502;
    const reader = new UsageReader(String(answered.headers['content-type']), body.length, codingOf(answered));
    // An answer in one piece is made and paid for: it is read to its end, where its count is, whoever leaves before.
    leaving.stays = counted && !reader.streams;
    response.writeHead(status, forwardedHeaders(answered.rawHeaders, new Set(['set-cookie'])));
    response.flushHeaders();
    let down = 0;
    try {
      for await (const chunk of answered) {
        down += chunk.length;
        if (counted) reader.push(chunk);
        await leaving.client.write(chunk);
      }
      response.end();
    } finally {
      if (counted) budget.countTokens(reader, model);
      parts.tellUsage();
    }
    return { quiet: false, status, down, up: body.length };
  }

  const host = base?.hostname ?? 'provider';
  const port = Number(base?.port || 443);
  const server = http.createServer({ maxHeaderSize: 64 * 1024, requestTimeout: 0 }, (request, response) => {
    const started = Date.now();
    const method = request.method ?? '';
    /** @type {Leaving} */
    const leaving = { client: new Client(request, response), stop: new AbortController(), stays: false };
    const { client, stop } = leaving;
    client.whenGone(() => {
      if (!leaving.stays) stop.abort();
    });
    turns
      .take(full, () => answer(request, response, leaving))
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
          refused || error instanceof Unauthorised || error instanceof Busy
            ? error.message
            : `the provider can't be reached: ${error.message}`;
        if (refused) fail(response, 403, 'permission_error', why);
        else if (error instanceof Unauthorised) fail(response, 401, 'authentication_error', why);
        else if (error instanceof Busy) fail(response, 503, 'overloaded_error', why);
        else fail(response, 502, 'api_error', why);
        const gone = stop.signal.aborted && !response.writableFinished;
        const quiet = (refused && error.quiet) || gone;
        const verdict = refused ? 'refused' : 'failed';
        log({ kind: 'provider', verdict, host, port, method, why, quiet, up: 0, down: 0, ms: Date.now() - started });
      });
  });
  return server;
}

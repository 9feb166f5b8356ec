// The provider's API for the agent. Only inference requests pass. The placeholder is replaced by the real credential,
// and answers are streamed as they are. Everything else is refused in one line, without a warning for what the client
// requests by itself when it starts.
import http from 'node:http';
import https from 'node:https';
import { createTurns } from './bounds.mjs';
import { Client } from './client.mjs';
import { Refused } from './egress.mjs';
import { forwardedHeaders, OVERRIDES } from './headers.mjs';
import { Busy, createHolding } from './held-body.mjs';
import { cleanName } from './names.mjs';
import { formOf, isUnasked } from './other-apis.mjs';
import { credentialHeaders, passedBy, refusesCredential, secretWords } from './provider-apis.mjs';
import { endpointOf, providerAgent } from './provider-connections.mjs';
import { codingOf, fail, passFailure } from './provider-failures.mjs';
import { judgedBody } from './request-body.mjs';
import { Unauthorised } from './secrets.mjs';
import { UsageReader } from './usage.mjs';

/** The API itself takes 32 MB. The container's memory has room for all bodies and what their parsing takes. */
const BODIES = { body: 33 * 1024 * 1024, all: 72 * 1024 * 1024 };

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

/** Flags, profiles and telemetry that the client requests by itself: their refusal is not shown to the user. */
const UNASKED =
  /^\/(api|inference-profiles|v1\/(oauth|toggles|environments|code|sessions|mcp|session_ingress|ultrareview))(\/|$)/;

/**
 * @typedef {import('../../src/types/gateway.ts').GatewayConfig} GatewayConfig
 * @typedef {import('../../src/types/credential.ts').Secret} Secret
 * @typedef {{ config: GatewayConfig, egress: import('./egress.mjs').Egress,
 *   relay: ReturnType<typeof import('./relay.mjs').createRelay>, secrets: import('./secrets.mjs').Secrets,
 *   budget: ReturnType<typeof import('./usage.mjs').createBudget>, trust: () => import('node:tls').SecureContext,
 *   log: (entry: Omit<import('../../src/types/gateway.ts').NetworkEntry, 'at'>) => void,
 *   tellUsage: (limit?: boolean) => void }} BrokerParts
 * @typedef {{ target: string, body: Buffer, model: string, maxOutput?: number, isCounted: boolean }} Inference
 * @typedef {{ isQuiet: boolean, status: number, up: number, down: number }} Exchange
 */

/** @param {BrokerParts} parts @returns {http.Server} */
export function createBroker(parts) {
  const broker = new Broker(parts);
  return http.createServer({ maxHeaderSize: 64 * 1024, requestTimeout: 0 }, (request, response) => {
    void new ProviderRequest(broker, request, response).run();
  });
}

/** What all requests of a session share. */
class Broker {
  /** @param {BrokerParts} parts */
  constructor(parts) {
    this.parts = parts;
    const { config } = parts;
    this.base = config.provider === undefined ? undefined : new URL(config.provider.url);
    this.agent = this.base === undefined ? undefined : providerAgent(parts, this.base);
    this.api = config.provider?.api ?? /** @type {const} */ ({ kind: 'anthropic' });
    this.holding = createHolding(BODIES);
    this.turns = createTurns(config.limits.connections);
  }

  /** Host and port, as the network log names them. */
  get shown() {
    return { host: this.base?.hostname ?? 'provider', port: Number(this.base?.port || 443) };
  }

  /** Checks the limit and counts in one step, so that concurrent requests cannot pass it. Reports the totals at once,
   * so that they survive the end of the gateway. Throws Refused. */
  countRequest() {
    const { budget, tellUsage } = this.parts;
    const exceeded = budget.exceeded();
    if (exceeded === undefined) budget.countRequest();
    // The last request within the limit gets its answer before the session is stopped.
    tellUsage(exceeded !== undefined);
    if (exceeded !== undefined) throw new Refused(`${exceeded}; the session's work is kept`);
  }

  /** @param {UsageReader} usage @param {string} model */
  countTokens(usage, model) {
    this.parts.budget.countTokens(usage, model);
    this.parts.tellUsage();
  }

  /** Resolves when the provider's answer begins.
   * @param {http.IncomingMessage} request @param {string} target @param {Buffer} body @param {Secret} secret
   * @param {AbortSignal} signal @returns {Promise<http.IncomingMessage>} */
  send(request, target, body, secret, signal) {
    const base = /** @type {URL} */ (this.base);
    const { isSecure, host, port } = endpointOf(base);
    const method = request.method ?? 'GET';
    const path = base.pathname.replace(/\/$/, '') + target;
    const headers = forwardedHeaders(request.rawHeaders, REPLACED_HEADERS);
    headers.push('host', base.host, 'accept-encoding', 'identity');
    if (method === 'POST') headers.push('content-type', 'application/json', 'content-length', String(body.length));
    headers.push(...credentialHeaders(this.api, secret, { method, host: base.host, path, body }));
    const agent = this.agent === undefined ? {} : { agent: this.agent };
    return new Promise((done, failed) => {
      const up = (isSecure ? https : http).request({ ...agent, host, port, method, path, headers, signal });
      up.once('response', done);
      up.once('error', failed).once('close', () => failed(new Error('it gave no answer')));
      up.end(body);
    });
  }
}

/**
 * One request of the agent, in one of these states:
 * - `reading`: its body is read and judged;
 * - `waiting`: it was sent, the provider has not answered;
 * - `streaming`: the answer is passed on piece by piece;
 * - `finishing`: the answer comes in one piece, which is paid for: it is read to its end, where its usage is, even when
 *   the client has left;
 * - `ended`.
 * A client that leaves ends the request in every state but `finishing`.
 * @typedef {'reading' | 'waiting' | 'streaming' | 'finishing' | 'ended'} RequestState
 */
class ProviderRequest {
  /** @param {Broker} broker @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  constructor(broker, request, response) {
    this.broker = broker;
    this.request = request;
    this.response = response;
    this.startedMs = Date.now();
    /** @type {RequestState} */
    this.state = 'reading';
    this.client = new Client(request, response);
    this.stop = new AbortController();
    this.client.whenGone(() => {
      if (this.state !== 'finishing' && this.state !== 'ended') this.stop.abort();
    });
  }

  async run() {
    const { log } = this.broker.parts;
    const entry = /** @type {const} */ ({
      kind: 'provider',
      ...this.broker.shown,
      method: this.request.method ?? '',
    });
    try {
      const { isQuiet, ...passed } = await this.broker.turns.take(
        () => new Busy('too many requests at once'),
        () => this.answer(),
      );
      log({ ...entry, verdict: 'passed', ...passed, quiet: isQuiet, ms: Date.now() - this.startedMs });
    } catch (error) {
      const failure = this.refuse(/** @type {Error} */ (error));
      log({ ...entry, ...failure, up: 0, down: 0, ms: Date.now() - this.startedMs });
    } finally {
      this.state = 'ended';
    }
  }

  /** @returns {Promise<Exchange>} */
  async answer() {
    const { request, response, broker } = this;
    const { config, egress } = broker.parts;
    const method = request.method ?? '';
    const target = request.url ?? '';
    const [, path = target, query] = /^([^?]*)\?(.*)$/s.exec(target) ?? [];
    if (path === '/api/hello' && (method === 'HEAD' || method === 'GET')) return this.sayHello();
    const passed = target.includes('#') ? undefined : passedBy(broker.api, method, path, query);
    if (passed === undefined)
      throw new Refused(`${method} ${cleanName(path)}: only inference requests pass the gateway`, {
        quiet: UNASKED.test(path) || isUnasked(broker.api, path),
      });
    if (config.provider === undefined) throw new Refused(config.noSecret);
    const held = await broker.holding.take(request);
    try {
      const { body, model, maxOutput } =
        method === 'POST'
          ? judgedBody(formOf(broker.api, path), held.bytes, (host, port) => void egress.ruleFor(host, port, [443, 80]))
          : { body: Buffer.alloc(0), model: '', maxOutput: undefined };
      broker.countRequest();
      this.state = 'waiting';
      const asked = maxOutput === undefined ? {} : { maxOutput };
      const inference = { target, body, model: passed.model ?? model, ...asked, isCounted: passed.counted };
      const { answered, secret } = await this.ask(inference);
      held.free();
      if (answered.statusCode === 200) return await this.pass(answered, inference);
      return await passFailure(answered, response, secretWords(secret), body.length, broker.parts.tellUsage);
    } finally {
      held.free();
    }
  }

  /** The client's question whether the API can be reached. @returns {Exchange} */
  sayHello() {
    this.request.resume();
    this.response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(this.request.method === 'HEAD' ? '' : '{"message":"hello"}');
    return { isQuiet: true, status: 200, down: 0, up: 0 };
  }

  /** @param {Inference} inference */
  async ask(inference) {
    const { config, secrets } = this.broker.parts;
    const secret = await secrets.current();
    if (secret === undefined) throw new Unauthorised(config.noSecret);
    try {
      return await this.askWith(secret, inference);
    } catch (error) {
      // The provider has read a request that was sent, also when nobody waits for its answer.
      if (inference.isCounted && this.stop.signal.aborted)
        this.broker.countTokens(this.reader('', inference), inference.model);
      throw error;
    }
  }

  /** Sends again, with a renewed credential, after the provider refused the first one.
   * @param {Secret} first @param {Inference} inference
   * @returns {Promise<{ answered: http.IncomingMessage, secret: Secret }>} */
  async askWith(first, { target, body }) {
    const send = (/** @type {Secret} */ secret) =>
      this.broker.send(this.request, target, body, secret, this.stop.signal);
    const answered = await send(first);
    if (!refusesCredential(this.broker.api, answered)) return { answered, secret: first };
    try {
      const next = await this.broker.parts.secrets.after401(first);
      if (next === undefined) return { answered, secret: first };
      answered.resume();
      return { answered: await send(next), secret: next };
    } catch (error) {
      answered.destroy();
      throw error;
    }
  }

  /** @param {string} type @param {Inference} inference @param {string} [coding] */
  reader(type, { target, body, maxOutput }, coding) {
    const [path = target] = target.split('?', 1);
    return new UsageReader(type, body.length, coding, formOf(this.broker.api, path), maxOutput);
  }

  /** @param {http.IncomingMessage} answered @param {Inference} inference @returns {Promise<Exchange>} */
  async pass(answered, inference) {
    const { body, model, isCounted } = inference;
    const { response } = this;
    const type = String(answered.headers['content-type']);
    const usage = this.reader(type, inference, codingOf(answered));
    this.state = isCounted && !usage.streams ? 'finishing' : 'streaming';
    response.writeHead(200, forwardedHeaders(answered.rawHeaders, new Set(['set-cookie'])));
    response.flushHeaders();
    let down = 0;
    try {
      for await (const chunk of answered) {
        down += chunk.length;
        if (isCounted) usage.push(chunk);
        await this.client.write(chunk);
      }
      response.end();
    } finally {
      if (isCounted) this.broker.countTokens(usage, model);
      else this.broker.parts.tellUsage();
    }
    return { isQuiet: false, status: 200, down, up: body.length };
  }

  /** Answers with the reason; gives it for the log. @param {Error & { quiet?: boolean }} error */
  refuse(error) {
    const { request, response } = this;
    request.resume();
    const isRefused = error instanceof Refused;
    const isExplained = isRefused || error instanceof Unauthorised || error instanceof Busy;
    const why = isExplained ? error.message : `the provider can't be reached: ${error.message}`;
    if (isRefused) fail(response, 403, 'permission_error', why);
    else if (error instanceof Unauthorised) fail(response, 401, 'authentication_error', why);
    else if (error instanceof Busy) fail(response, 503, 'overloaded_error', why);
    else fail(response, 502, 'api_error', why);
    const hasLeft = this.stop.signal.aborted && !response.writableFinished;
    const verdict = /** @type {'refused' | 'failed'} */ (isRefused ? 'refused' : 'failed');
    return { verdict, why, quiet: (isRefused && error.quiet === true) || hasLeft };
  }
}

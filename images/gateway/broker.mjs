// The provider's API for the agent. Only inference requests pass. The placeholder is replaced by the real credential,
// and answers are streamed as they are. Everything else is refused in one line, without a warning for what the client
// requests by itself when it starts.
import http from 'node:http';
import { createTurns } from './bounds.mjs';
import { Client } from './client.mjs';
import { decoysOf } from './decoys.mjs';
import { Refused } from './egress.mjs';
import { forwardedHeaders } from './headers.mjs';
import { Busy, Holding } from './held-body.mjs';
import { cleanName } from './names.mjs';
import { formOf, isUnasked } from './other-apis.mjs';
import { passedBy, refusesCredential, secretWords } from './provider-apis.mjs';
import { Provider } from './provider-connections.mjs';
import { codingOf, fail, passFailure } from './provider-failures.mjs';
import { judgedBody } from './request-body.mjs';
import { Unauthorised } from './secrets.mjs';
import { UsageReader } from './usage.mjs';

/** The API itself takes 32 MB. The container's memory has room for all bodies and what their parsing takes. */
const BODIES = { body: 33 * 1024 * 1024, all: 72 * 1024 * 1024 };

/** Flags, profiles and telemetry that the client requests by itself: their refusal is not shown to the user. */
const UNASKED =
  /^\/(api|inference-profiles|v1\/(oauth|toggles|environments|code|sessions|mcp|session_ingress|ultrareview))(\/|$)/;

/**
 * @typedef {import('../../src/core/types/gateway.ts').GatewayConfig} GatewayConfig
 * @typedef {import('../../src/core/types/agent/credential.ts').Secret} Secret
 * @typedef {{ config: GatewayConfig, egress: import('./egress.mjs').Egress,
 *   relay: ReturnType<typeof import('./relay.mjs').createRelay>, secrets: import('./secrets.mjs').Secrets,
 *   budget: ReturnType<typeof import('./usage.mjs').createBudget>, trust: () => import('node:tls').SecureContext,
 *   decoys: import('./decoys.mjs').DecoyWatch,
 *   log: (entry: Omit<import('../../src/core/types/gateway.ts').NetworkEntry, 'at'>) => void,
 *   tellUsage: (limit?: boolean) => Promise<void> }} BrokerParts
 * @typedef {{ provider: Provider, target: string, body: Buffer, model: string }} Inference
 * @typedef {import('./provider-failures.mjs').Exchange} Exchange
 */

/** How long an answer is read whose client has left. Then its request counts as much as it allows. */
const READ_ON_MS = 15 * 60_000;
/** Between a piece of an answer and the report of what it delivered. */
const REPORT_MS = 1000;

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
    this.provider = config.provider === undefined ? undefined : new Provider(parts, config.provider);
    this.api = config.provider?.api ?? /** @type {const} */ ({ kind: 'anthropic' });
    this.holding = new Holding(BODIES);
    this.turns = createTurns(config.limits.connections);
    /** @type {NodeJS.Timeout | undefined} */
    this.report = undefined;
  }

  /** Host and port, as the network log names them. */
  get shown() {
    const { base } = this.provider ?? {};
    return { host: base?.hostname ?? 'provider', port: Number(base?.port || 443) };
  }

  /** Checks the limit and counts in one step, so that concurrent requests cannot pass it. Resolves when the host has
   * what the answer may cost at most: a gateway that is started again begins with it. Throws Refused.
   * @param {UsageReader | undefined} usage of the answer @param {string} model */
  async countRequest(usage, model) {
    const { budget, tellUsage } = this.parts;
    const exceeded = budget.exceeded();
    if (exceeded === undefined) budget.countRequest();
    if (exceeded === undefined && usage !== undefined) budget.open(usage, model);
    // The last request within the limit gets its answer before the session is stopped.
    await tellUsage(exceeded !== undefined);
    if (exceeded !== undefined) throw new Refused(`${exceeded}; the session's work is kept`);
  }

  /** Reports what open answers have delivered, soon. */
  reportOpen() {
    this.report ??= setTimeout(() => {
      this.report = undefined;
      void this.parts.tellUsage(false);
    }, REPORT_MS);
  }
}

/**
 * One request of the agent, in one of these states:
 * - `reading`: its body is read and judged;
 * - `free`: it was sent, and costs nothing;
 * - `paid`: it was sent, and is paid for by its usage, which is at the end of the answer;
 * - `ended`.
 * A client that leaves ends the request, except in `paid`: there the answer is read to its end, for a while.
 * @typedef {'reading' | 'free' | 'paid' | 'ended'} RequestState
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
    /** @type {NodeJS.Timeout | undefined} */
    this.late = undefined;
    /** The decoys that the request has. @type {{ decoys?: readonly import('./decoys.mjs').DecoyPlace[] }} */
    this.read = {};
    this.client.whenGone(() => this.leave());
  }

  leave() {
    if (this.state === 'ended') return;
    if (this.state !== 'paid') return this.stop.abort();
    const { readOnMs = READ_ON_MS } = this.broker.parts.config.limits;
    this.late = setTimeout(() => this.stop.abort(), readOnMs);
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
      log({ ...entry, verdict: 'passed', ...passed, ...this.read, quiet: isQuiet, ms: Date.now() - this.startedMs });
    } catch (error) {
      const failure = this.refuse(/** @type {Error} */ (error));
      log({ ...entry, ...failure, ...decoysOf(error), up: 0, down: 0, ms: Date.now() - this.startedMs });
    } finally {
      this.state = 'ended';
      clearTimeout(this.late);
    }
  }

  /** @returns {Promise<Exchange>} */
  async answer() {
    const { request, broker } = this;
    const { config, egress, decoys } = broker.parts;
    const { provider } = broker;
    const method = request.method ?? '';
    const target = request.url ?? '';
    const [, path = target, query] = /^([^?]*)\?(.*)$/s.exec(target) ?? [];
    if (path === '/api/hello' && (method === 'HEAD' || method === 'GET')) return this.sayHello();
    const passed = target.includes('#') ? undefined : passedBy(broker.api, method, path, query);
    if (passed === undefined)
      throw new Refused(`${method} ${cleanName(path)}: only inference requests pass the gateway`, {
        quiet: UNASKED.test(path) || isUnasked(broker.api, path),
      });
    if (provider === undefined) throw new Refused(config.noSecret);
    const held = await broker.holding.take(request);
    try {
      const { body, model, maxOutput } =
        method === 'POST'
          ? judgedBody(formOf(broker.api, path), held.bytes, (host, port, url) => {
              decoys.judgeName(host);
              decoys.judgeTexts([url]);
              egress.ruleFor(host, port, [443, 80]);
            })
          : { body: Buffer.alloc(0), model: '', maxOutput: undefined };
      held.replace(body);
      this.read = decoys.read(body);
      const inference = { provider, target, body, model: passed.model ?? model };
      if (!passed.counted) return await this.exchange(inference, undefined);
      return await this.exchange(inference, new UsageReader(body.length, formOf(broker.api, path), maxOutput));
    } finally {
      held.free();
    }
  }

  /** @param {Inference} inference @param {UsageReader | undefined} usage undefined: the request costs nothing
   * @returns {Promise<Exchange>} */
  async exchange(inference, usage) {
    const { budget, tellUsage } = this.broker.parts;
    await this.broker.countRequest(usage, inference.model);
    let isPaid = false;
    try {
      const secret = await this.secret();
      this.stop.signal.throwIfAborted();
      this.state = usage === undefined ? 'free' : 'paid';
      const answer = await this.ask(secret, inference);
      isPaid = answer.answered.statusCode === 200;
      if (isPaid) return await this.pass(answer.answered, inference, usage);
      return await passFailure(answer.answered, this.response, secretWords(answer.secret), inference.body.length);
    } catch (error) {
      // Nobody waited for the end of the answer, or it broke: the provider has read the request.
      isPaid ||= this.stop.signal.aborted && this.state === 'paid';
      throw error;
    } finally {
      if (usage !== undefined) budget.close(usage, isPaid ? usage.total() : undefined);
      await tellUsage();
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

  async secret() {
    const { config, secrets } = this.broker.parts;
    const secret = await secrets.current();
    if (secret === undefined) throw new Unauthorised(config.noSecret);
    return secret;
  }

  /** Sends again, with a renewed credential, after the provider refused the first one.
   * @param {Secret} first @param {Inference} inference
   * @returns {Promise<{ answered: http.IncomingMessage, secret: Secret }>} */
  async ask(first, { provider, target, body }) {
    const send = (/** @type {Secret} */ secret) => provider.send(this.request, target, body, secret, this.stop.signal);
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

  /** @param {http.IncomingMessage} answered @param {Inference} inference @param {UsageReader | undefined} usage
   * @returns {Promise<Exchange>} */
  async pass(answered, { body }, usage) {
    const { response } = this;
    usage?.begin(String(answered.headers['content-type']), codingOf(answered));
    response.writeHead(200, forwardedHeaders(answered.rawHeaders, new Set(['set-cookie'])));
    response.flushHeaders();
    let down = 0;
    for await (const chunk of answered) {
      down += chunk.length;
      usage?.push(chunk);
      if (usage !== undefined) this.broker.reportOpen();
      await this.client.write(chunk);
    }
    response.end();
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

// Counts requests, tokens and cost from what passes the broker, and reports when a limit is reached.
import { EventFrames } from './event-frames.mjs';
import { UNLIMITED_OUTPUT, usageFormat } from './usage-formats.mjs';

/**
 * @typedef {import('../../src/core/types/gateway.ts').GatewayUsage} GatewayUsage
 * @typedef {import('./usage-formats.mjs').Tokens} Tokens
 */

/** A count. A value that is not a number must not make totals that no limit can stop. @param {unknown} value */
const amount = (value) => (typeof value === 'number' && value > 0 ? value : 0);

/** @param {unknown} value @returns {Tokens} */
function tokensOf(value) {
  return typeof value === 'object' && value !== null ? /** @type {Tokens} */ (value) : {};
}

/** @param {string} text @returns {Record<string, unknown> | undefined} */
function eventOf(text) {
  try {
    const event = JSON.parse(text);
    return event === null || typeof event !== 'object' ? undefined : event;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const MAX_TOOL_CHARACTERS = 100;
/** US dollars for one search that the provider makes. */
const WEB_SEARCH = 0.01;
/** Bytes of a delta event without its text. */
const DELTA_FRAME = 90;
/** The faster mode, and a chosen region, cost this much more. */
const FAST = 2;
const IN_ONE_PLACE = 1.1;

/**
 * Reads usage out of an answer as it streams past, SSE or JSON; never changes or holds back a byte. While it runs, it
 * counts what was delivered. An answer that ends before its usage is read counts as much as its request allows: the
 * provider may have finished it.
 */
export class UsageReader {
  /** @param {number} asked bytes of the request
   * @param {import('../../src/core/types/agent/credential.ts').ProviderApi} [api] default: the Messages API
   * @param {number} [maxOutput] the most output tokens that the request asked for */
  constructor(asked, api = undefined, maxOutput = undefined) {
    this.format = usageFormat(api);
    this.most = maxOutput ?? UNLIMITED_OUTPUT;
    this.asked = asked;
    this.coded = false;
    this.streams = false;
    /** @type {EventFrames | undefined} */
    this.frames = undefined;
    this.bytes = 0;
    /** The counts of the whole answer were read; the answer may go on. */
    this.hasTotal = false;
    this.finished = false;
    this.deltas = 0;
    this.deltaBytes = 0;
    this.text = '';
    this.model = '';
    /** The tool that the answer asked for last, for the user's eyes. @type {string | undefined} */
    this.tool = undefined;
    /** @type {Tokens} */
    this.tokens = {};
    this.decoder = new TextDecoder();
  }

  /** The answer begins. @param {string} type its content type
   * @param {string} [coding] its content coding, which was not requested and is not decoded */
  begin(type, coding = 'identity') {
    this.coded = coding !== 'identity';
    if (type.startsWith('application/vnd.amazon.eventstream')) this.frames = new EventFrames();
    this.streams = this.frames !== undefined || type.startsWith('text/event-stream');
  }

  /** @param {Uint8Array} bytes */
  push(bytes) {
    this.bytes += bytes.length;
    if (this.coded) return;
    if (this.frames !== undefined) {
      for (const event of this.frames.push(bytes)) this.take(`data:${event}`);
      return;
    }
    this.text += this.decoder.decode(bytes, { stream: true });
    if (!this.streams) return;
    const lines = this.text.split('\n');
    this.text = lines.pop() ?? '';
    for (const line of lines) this.take(line);
  }

  /** Only events that carry usage are parsed: the deltas between them are most of the stream. @param {string} line */
  take(line) {
    if (!line.startsWith('data:')) return;
    if (this.format.hasTool.test(line)) this.readTool(line.slice(5));
    if (this.format.hasUsage.test(line)) this.read(line.slice(5));
    else if (this.format.delta.test(line)) {
      this.deltas += 1;
      this.deltaBytes += Math.max(0, line.length - DELTA_FRAME);
    } else if (this.format.end.test(line)) this.finished = this.hasTotal;
  }

  /** The tokens that were delivered so far. @returns {Tokens} */
  delivered() {
    const shown = this.coded ? this.bytes : Math.max(this.deltas, Math.ceil(this.deltaBytes / 3));
    const output_tokens = this.finished
      ? this.tokens.output_tokens
      : Math.max(amount(this.tokens.output_tokens), shown);
    return { input_tokens: Math.ceil(this.asked / 4), ...this.tokens, output_tokens: amount(output_tokens) };
  }

  /** The tokens of the answer if it ended here, where its usage was not read yet. @returns {Tokens} */
  cut() {
    const delivered = this.delivered();
    if (this.finished) return delivered;
    return { ...delivered, output_tokens: Math.max(amount(delivered.output_tokens), this.most) };
  }

  /** The tokens of the answer that has ended. @returns {Tokens} */
  total() {
    if (!this.streams && !this.coded && !this.finished) this.read(this.text);
    return this.cut();
  }

  /** @param {string} text */
  readTool(text) {
    const event = eventOf(text);
    const name = event === undefined ? undefined : this.format.tool(event);
    if (typeof name === 'string') this.tool = name.slice(0, MAX_TOOL_CHARACTERS);
  }

  /** @param {string} text */
  read(text) {
    const event = eventOf(text);
    if (event === undefined) return;
    const { model, tokens, isTotal, finished } = this.format.read(event);
    if (model !== undefined) this.model = model;
    this.tokens = { ...this.tokens, ...tokensOf(tokens) };
    if (isTotal === true) this.hasTotal = true;
    const isWhole = !this.streams && Object.keys(this.tokens).length > 0;
    if (isWhole || finished === true) this.finished = true;
  }
}

/** What names a version of a model with the same price: '-2026-01-01', '-preview-09-2025', '-001', '-latest'. */
const VERSION = /^(-preview)?(-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{3})?$|^-latest$/;

/** @param {import('../../src/core/types/gateway.ts').Price} price @param {string} name */
function isPriceOf(price, name) {
  if (!name.startsWith(price.model)) return false;
  return price.exact !== true || VERSION.test(name.slice(price.model.length));
}

/** @param {import('../../src/core/types/gateway.ts').Price} price
 * @param {{ input: number, read: number, written: number, hour: number, output: number }} counted hour: of written */
function costOf(price, { input, read, written, hour, output }) {
  const long = price.longDearer === true && input + read + written > 200_000;
  const inward =
    input * price.input + read * price.cacheRead + (written - hour) * price.cacheWrite + hour * price.cacheWriteHour;
  return (inward * (long ? 2 : 1) + output * price.output * (long ? 1.5 : 1)) / 1e6;
}

/** The rounds of one answer where the provider made several (a compaction, another model's advice): the counts at the
 * top leave those out. @param {Tokens} tokens @returns {readonly Tokens[]} */
function partsOf(tokens) {
  const parts = Array.isArray(tokens.iterations) ? tokens.iterations.map(tokensOf) : [];
  /** @param {Tokens} one */
  const weight = (one) => amount(one.input_tokens) + amount(one.output_tokens);
  return parts.reduce((sum, one) => sum + weight(one), 0) < weight(tokens) || parts.length === 0 ? [tokens] : parts;
}

/** Totals of one gateway, and whether they are at a limit.
 * @param {import('../../src/core/types/gateway.ts').GatewayConfig} config */
export function createBudget(config) {
  let usage = { ...config.usage };
  /** @type {string | undefined} */
  let tool;

  /** @param {string} model */
  function priceOf(model) {
    // Clouds put their own words before the name: 'eu.anthropic.claude-…'.
    const name = model.slice(Math.max(0, model.indexOf('claude-')));
    const known = config.prices.filter((price) => isPriceOf(price, name));
    const longest = known.sort((a, b) => b.model.length - a.model.length)[0];
    // An unknown model counts as the dearest known: a budget errs on the safe side.
    return longest ?? [...config.prices].sort((a, b) => b.output - a.output)[0];
  }

  /** @param {Tokens} tokens @param {string} model @param {number} dearer */
  function count(tokens, model, dearer) {
    const price = priceOf(model);
    const input = amount(tokens.input_tokens);
    const read = amount(tokens.cache_read_input_tokens);
    const written = amount(tokens.cache_creation_input_tokens);
    const hour = Math.min(written, amount(tokens.cache_creation?.ephemeral_1h_input_tokens));
    const output = amount(tokens.output_tokens);
    const cost = price === undefined ? 0 : costOf(price, { input, read, written, hour, output });
    usage = {
      requests: usage.requests,
      inputTokens: usage.inputTokens + input + read + written,
      outputTokens: usage.outputTokens + output,
      costUsd: usage.costUsd + cost * dearer,
    };
  }

  /** @param {UsageReader} reader @param {string} askedModel @param {Tokens} tokens */
  function countAnswer(reader, askedModel, tokens) {
    const dearer = (tokens.speed === 'fast' ? FAST : 1) * (tokens.inference_geo === 'us' ? IN_ONE_PLACE : 1);
    for (const part of partsOf(tokens)) count(part, String(part.model ?? (reader.model || askedModel)), dearer);
    const searches = amount(tokens.server_tool_use?.web_search_requests) * WEB_SEARCH;
    usage = { ...usage, costUsd: usage.costUsd + searches };
  }

  /** Answers that are being given, with the model that was asked for. @type {Map<UsageReader, string>} */
  const open = new Map();

  /** The totals with what each open answer adds to them. @param {(reader: UsageReader) => Tokens} tokensOfOpen */
  function withOpen(tokensOfOpen) {
    const ended = usage;
    for (const [reader, model] of open) countAnswer(reader, model, tokensOfOpen(reader));
    const all = usage;
    usage = ended;
    return all;
  }
  const delivered = () => withOpen((reader) => reader.delivered());

  return {
    /** What ended, and what open answers have delivered. */
    usage: delivered,
    /** The tool that was asked for last, of all answers. */
    tool() {
      for (const reader of open.keys()) tool = reader.tool ?? tool;
      return tool;
    },
    /** The totals if each open answer ended here, without its usage: what a gateway that is killed has spent at most. */
    atMost: () => withOpen((reader) => reader.cut()),
    /** Why no more requests may pass, or undefined. @returns {string | undefined} */
    exceeded() {
      if (config.maxRequests !== undefined && usage.requests >= config.maxRequests)
        return `the session's limit of ${config.maxRequests} requests is reached`;
      if (config.maxCostUsd !== undefined && delivered().costUsd >= config.maxCostUsd)
        return `the session's budget of $${config.maxCostUsd.toFixed(2)} is used up`;
      return undefined;
    },
    /** Counted before it is sent, so that requests side by side do not slip past the limit. */
    countRequest() {
      usage = { ...usage, requests: usage.requests + 1 };
    },
    /** An answer that may begin: until `close`, it counts what it delivers. @param {UsageReader} reader
     * @param {string} askedModel */
    open(reader, askedModel) {
      open.set(reader, askedModel);
    },
    /** An answer that has ended. Without `tokens` it counts nothing. @param {UsageReader} reader @param {Tokens} [tokens] */
    close(reader, tokens) {
      const model = open.get(reader) ?? '';
      tool = reader.tool ?? tool;
      if (open.delete(reader) && tokens !== undefined) countAnswer(reader, model, tokens);
    },
  };
}

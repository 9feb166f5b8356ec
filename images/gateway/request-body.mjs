// Bodies of requests to the provider: read within limits, judged, and serialised again.
import { Refused } from './egress.mjs';
import { hostName } from './names.mjs';
import { otherApi } from './other-apis.mjs';

/** The API itself takes 32 MB. */
const MAX_BODY = 33 * 1024 * 1024;
/** All bodies together; the container's memory has room for these and what their parsing takes. */
const MAX_HELD = 72 * 1024 * 1024;
/** Objects, arrays and their members: small ones take far more memory than text. */
const MAX_NODES = 1_000_000;
const MAX_DEPTH = 500;

/** Too many at once: the client may retry. */
export class Busy extends Error {}

/** Counts the bytes of bodies in memory, so that an agent can't fill the gateway's memory. */
export function createHolding() {
  let held = 0;
  return {
    /** The whole body, and a function that frees it. @param {import('node:http').IncomingMessage} request
     * @returns {Promise<{ bytes: Buffer, free: () => void }>} */
    async take(request) {
      /** @type {Buffer[]} */
      const parts = [];
      let size = 0;
      const free = () => {
        held -= size;
        size = 0;
      };
      try {
        for await (const part of request) {
          size += part.length;
          held += part.length;
          if (size > MAX_BODY) throw new Refused('the request is larger than 32 MB');
          if (held > MAX_HELD) throw new Busy('too many large requests at once');
          parts.push(part);
        }
        return { bytes: Buffer.concat(parts), free };
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

const [QUOTE = 0, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from('"\\,[]{}');

/** Where the string that begins at `from` has its closing quote. @param {Buffer} bytes @param {number} from */
function endOfString(bytes, from) {
  for (let end = bytes.indexOf(QUOTE, from + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return bytes.length;
}

/** Throws Refused for JSON whose parsed form would be out of proportion. @param {Buffer} bytes */
function judgeShape(bytes) {
  let nodes = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) nodes += 1;
    else if (byte === OPEN || byte === OPEN_LIST) {
      nodes += 1;
      depth += 1;
      if (depth > MAX_DEPTH) throw new Refused('the request is nested too deeply');
    } else if (byte === CLOSE || byte === CLOSE_LIST) depth -= 1;
    if (nodes > MAX_NODES) throw new Refused('the request has too many parts');
  }
}

/**
 * Judges what the provider itself would fetch for the agent, which is another way out.
 * @param {unknown} value @param {(host: string, port: number) => void} judge throws Refused
 * @param {boolean} [inSource] the value is a block's source
 */
function judgeFetches(value, judge, inSource = false) {
  if (Array.isArray(value)) {
    for (const one of value) judgeFetches(one, judge, inSource);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const record = /** @type {Record<string, unknown>} */ (value);
  const servers = record['mcp_servers'] ?? [];
  if (!Array.isArray(servers) || servers.length > 0)
    throw new Refused('MCP servers that the provider connects to are not passed');
  const type = typeof record['type'] === 'string' ? record['type'].toLowerCase() : '';
  if (type.startsWith('web_fetch')) throw new Refused('the web_fetch tool that runs at the provider is not passed');
  if (record['url'] !== undefined && (type === 'url' || inSource)) record['url'] = judgedUrl(record['url'], judge);
  // A tool's input and schema are data of the agent, not instructions to the provider.
  for (const [name, one] of Object.entries(record))
    if (name !== 'input' && name !== 'input_schema') judgeFetches(one, judge, name === 'source');
}

/** The URL as it was parsed here: other parsers read another host in some spellings.
 * @param {unknown} value @param {(host: string, port: number) => void} judge throws Refused */
function judgedUrl(value, judge) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const host = url === undefined ? undefined : hostName(url.hostname);
  if (url === undefined || host === undefined) throw new Refused('a URL for the provider to fetch has no plain host');
  judge(host, Number(url.port || (url.protocol === 'http:' ? 80 : 443)));
  return url.href;
}

/** The most output tokens that the request asks for; undefined where it sets no limit. @param {unknown} value */
function maxOutputOf(value) {
  const request = /** @type {Record<string, unknown> | null} */ (value) ?? {};
  const limits = ['max_output_tokens', 'max_completion_tokens', 'max_tokens']
    .map((name) => request[name])
    .filter((limit) => typeof limit === 'number' && limit > 0);
  const { n } = request;
  const answers = typeof n === 'number' && n > 1 ? n : 1;
  return limits.length === 0 ? undefined : Math.max(...limits.map(Number)) * answers;
}

/** The body to send: serialised from the judged value, so that the provider reads the same.
 * @param {import('../../src/types/credential.ts').ProviderApi} api @param {Buffer} bytes @param {(host: string, port: number) => void} judge throws Refused */
export function judgedBody(api, bytes, judge) {
  judgeShape(bytes);
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refused('the request is not JSON');
    throw error;
  }
  const judgeUrl = (/** @type {unknown} */ url) => judgedUrl(url, judge);
  const other = otherApi(api);
  if (other === undefined) judgeFetches(value, judge);
  else other.judge(value, judgeUrl);
  const model = /** @type {{ model?: unknown } | null} */ (value)?.model;
  const named = typeof model === 'string' ? model : '';
  return { body: Buffer.from(JSON.stringify(value)), model: named, maxOutput: maxOutputOf(value) };
}

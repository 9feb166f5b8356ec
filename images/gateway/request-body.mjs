// Bodies of requests to the provider: judged, and serialised again.
import { Refused } from './egress.mjs';
import { judgeShape } from './held-body.mjs';
import { hostName } from './names.mjs';
import { otherApi } from './other-apis.mjs';

const SHAPE = { nodes: 1_000_000, depth: 500 };

/**
 * Judges what the provider itself would fetch for the agent, which is another way out.
 * @param {unknown} value @param {(host: string, port: number, url: string) => void} judge throws Refused
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
  if ((record['file_id'] ?? undefined) !== undefined) throw new Refused("file_id: the account's files are not passed");
  const type = typeof record['type'] === 'string' ? record['type'].toLowerCase() : '';
  if (type.startsWith('web_fetch')) throw new Refused('the web_fetch tool that runs at the provider is not passed');
  if (record['url'] !== undefined && (type === 'url' || inSource)) record['url'] = judgedUrl(record['url'], judge);
  // A tool's input and schema are data of the agent, not instructions to the provider.
  for (const [name, one] of Object.entries(record))
    if (name !== 'input' && name !== 'input_schema') judgeFetches(one, judge, name === 'source');
}

/** The URL as it was parsed here: other parsers read another host in some spellings.
 * @param {unknown} value @param {(host: string, port: number, url: string) => void} judge throws Refused */
function judgedUrl(value, judge) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const host = url === undefined ? undefined : hostName(url.hostname);
  if (url === undefined || host === undefined) throw new Refused('a URL for the provider to fetch has no plain host');
  judge(host, Number(url.port || (url.protocol === 'http:' ? 80 : 443)), url.href);
  return url.href;
}

const LIMITS = new Set(['maxoutputtokens', 'maxcompletiontokens', 'maxtokens']);
/** How many answers are asked for. */
const ANSWERS = new Set(['n', 'candidatecount']);

/** Fields of an object, by their names in one spelling. @param {unknown} value @returns {(readonly [string, unknown])[]} */
const plainFields = (value) =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, one]) => [name.replaceAll('_', '').toLowerCase(), one])
    : [];

/** The most output tokens that the request asks for; undefined where it sets no limit. Gemini's limit is in its
 * generation settings, and Code Assist wraps the whole request. @param {unknown} value @returns {number | undefined} */
function maxOutputOf(value) {
  const whole = plainFields(value);
  const inner = whole.filter(([name]) => name === 'request').flatMap(([, one]) => plainFields(one));
  const settings = [...whole, ...inner]
    .filter(([name]) => name === 'generationconfig')
    .flatMap(([, one]) => plainFields(one));
  const numbers = (/** @type {ReadonlySet<string>} */ names) =>
    [...whole, ...settings].flatMap(([name, one]) =>
      names.has(name) && typeof one === 'number' && one > 0 ? [one] : [],
    );
  const limits = numbers(LIMITS);
  return limits.length === 0 ? undefined : Math.max(...limits) * Math.max(1, ...numbers(ANSWERS));
}

/** The body to send: serialised from the judged value, so that the provider reads the same.
 * @param {import('../../src/core/types/agent/credential.ts').ProviderApi} api @param {Buffer} bytes @param {(host: string, port: number, url: string) => void} judge throws Refused */
export function judgedBody(api, bytes, judge) {
  judgeShape(bytes, SHAPE);
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refused('the request is not JSON');
    throw error;
  }
  const judgeUrl = (/** @type {unknown} */ url) => judgedUrl(url, judge);
  const { model, container } = /** @type {{ model?: unknown, container?: unknown }} */ (value ?? {});
  const other = otherApi(api);
  if (other !== undefined) other.judge(value, judgeUrl);
  else if ((container ?? undefined) !== undefined)
    throw new Refused('container: what is stored at the provider is not passed');
  else judgeFetches(value, judge);
  const named = typeof model === 'string' ? model : '';
  return { body: Buffer.from(JSON.stringify(value)), model: named, maxOutput: maxOutputOf(value) };
}

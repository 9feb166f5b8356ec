// Where usage is in an answer, by the kind of API: what counts as a piece of text, and how an event is read into the
// counts of the Messages API, by which everything is added up.

/**
 * @typedef {import('../../src/types/credential.ts').ProviderApi} ProviderApi
 * @typedef {import('./usage.mjs').Tokens} Tokens
 * @typedef {{ model?: string, tokens?: Tokens, isTotal?: boolean, finished?: boolean }} Reading isTotal: of the whole
 *   answer, which ends with another event
 * @typedef {{ hasUsage: RegExp, delta: RegExp, end: RegExp, read: (event: Record<string, unknown>) => Reading }} UsageFormat
 */

/** Output tokens of an answer that ends without its usage, and whose request sets no limit. */
export const UNLIMITED_OUTPUT = 8000;

/** @param {unknown} value @returns {Record<string, unknown>} */
const fieldsOf = (value) =>
  typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {};

/** @param {unknown} value */
const count = (value) => (typeof value === 'number' && value > 0 ? value : 0);

/** @param {unknown} value */
const text = (value) => (typeof value === 'string' ? value : undefined);

/** @param {Record<string, unknown>} event @returns {Reading} */
function readMessages(event) {
  const message = fieldsOf(event['message'] ?? event);
  const model = text(message['model']);
  const tokens = fieldsOf(message['usage'] ?? event['usage']);
  const isTotal = event['type'] === 'message_delta' && typeof tokens['output_tokens'] === 'number';
  return { ...(model === undefined ? {} : { model }), tokens, isTotal };
}

/** Responses (input_tokens) and chat completions (prompt_tokens); both count what was cached as input.
 * @param {Record<string, unknown>} event @returns {Reading} */
function readOpenai(event) {
  const response = fieldsOf(event['response'] ?? event);
  const usage = fieldsOf(response['usage']);
  const model = text(response['model']);
  const whole = count(usage['input_tokens'] ?? usage['prompt_tokens']);
  const details = fieldsOf(usage['input_tokens_details'] ?? usage['prompt_tokens_details']);
  const cached = Math.min(whole, count(details['cached_tokens']));
  const items = Array.isArray(response['output']) ? response['output'] : [];
  const searches = items.filter((item) => fieldsOf(item)['type'] === 'web_search_call').length;
  const isDear = response['service_tier'] === 'priority';
  return {
    ...(model === undefined ? {} : { model }),
    ...(Object.keys(usage).length === 0
      ? {}
      : {
          tokens: {
            input_tokens: whole - cached,
            cache_read_input_tokens: cached,
            output_tokens: count(usage['output_tokens'] ?? usage['completion_tokens']),
            server_tool_use: { web_search_requests: searches },
            ...(isDear ? { speed: 'fast' } : {}),
          },
          finished: true,
        }),
  };
}

/** Each event has the counts so far; thoughts are charged as output. Code Assist wraps the answer.
 * @param {Record<string, unknown>} event @returns {Reading} */
function readGemini(event) {
  const response = fieldsOf(event['response'] ?? event);
  const usage = fieldsOf(response['usageMetadata']);
  const hasUsage = Object.keys(usage).length > 0;
  const isBlocked = fieldsOf(response['promptFeedback'])['blockReason'] !== undefined;
  const model = text(response['modelVersion']);
  const whole = count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']);
  const cached = Math.min(whole, count(usage['cachedContentTokenCount']));
  const candidates = Array.isArray(response['candidates']) ? response['candidates'].map(fieldsOf) : [];
  return {
    ...(model === undefined ? {} : { model }),
    ...(hasUsage
      ? {
          tokens: {
            input_tokens: whole - cached,
            cache_read_input_tokens: cached,
            output_tokens: count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']),
            server_tool_use: {
              web_search_requests: candidates.filter((one) => one['groundingMetadata'] !== undefined).length,
            },
          },
        }
      : {}),
    finished: hasUsage && (isBlocked || candidates.some((one) => one['finishReason'] !== undefined)),
  };
}

/** @type {UsageFormat} */
const MESSAGES = { hasUsage: /"usage"/, delta: /"content_block_delta"/, end: /"message_stop"/, read: readMessages };
/** @type {UsageFormat} */
const OPENAI = { hasUsage: /"usage"\s*:\s*\{/, delta: /\.delta"|"delta":/, end: /(?!)/, read: readOpenai };
/** @type {UsageFormat} */
const GEMINI = { hasUsage: /"usageMetadata"/, delta: /"candidates"/, end: /(?!)/, read: readGemini };

/** @param {ProviderApi | undefined} api @returns {UsageFormat} */
export function usageFormat(api) {
  if (api?.kind === 'openai' || api?.kind === 'chatgpt') return OPENAI;
  return api?.kind === 'gemini' || api?.kind === 'code-assist' ? GEMINI : MESSAGES;
}

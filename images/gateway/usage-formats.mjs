// Where usage is in an answer, by the kind of API: what counts as a piece of text, and how an event is read into the
// counts of the Messages API, by which everything is added up.

/**
 * @typedef {import('../../src/core/types/agent/credential.ts').ProviderApi} ProviderApi
 * @typedef {{ input_tokens?: number, output_tokens?: number, cache_read_input_tokens?: number,
 *   cache_creation_input_tokens?: number, cache_creation?: { ephemeral_1h_input_tokens?: number },
 *   server_tool_use?: { web_search_requests?: number }, speed?: string, inference_geo?: string, model?: string,
 *   iterations?: Tokens[] }} Tokens
 * @typedef {{ model?: string, tokens?: Tokens, isTotal?: boolean, finished?: boolean }} Reading isTotal: of the whole
 *   answer, which ends with another event
 * @typedef {{ hasUsage: RegExp, delta: RegExp, end: RegExp, hasTool: RegExp,
 *   read: (event: Record<string, unknown>) => Reading, tool: (event: Record<string, unknown>) => unknown }} UsageFormat
 *   tool: the name of a tool that the model asks for, in an event that `hasTool` matches
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

/** The first element of a list that may be none. @param {unknown} value */
const firstOf = (value) => fieldsOf(Array.isArray(value) ? value[0] : undefined);

/** @param {Record<string, unknown>} event */
function toolOfMessages(event) {
  const block = fieldsOf(event['content_block']);
  return block['type'] === 'tool_use' ? block['name'] : undefined;
}

/** Responses, and chat completions. @param {Record<string, unknown>} event */
function toolOfOpenai(event) {
  const item = fieldsOf(event['item']);
  const call = firstOf(fieldsOf(firstOf(event['choices'])['delta'])['tool_calls']);
  return text(item['type'])?.endsWith('_call') ? item['name'] : fieldsOf(call['function'])['name'];
}

/** @param {Record<string, unknown>} event */
function toolOfGemini(event) {
  const content = fieldsOf(firstOf(fieldsOf(event['response'] ?? event)['candidates'])['content']);
  const parts = Array.isArray(content['parts']) ? content['parts'].map(fieldsOf) : [];
  return fieldsOf(parts.find((part) => part['functionCall'] !== undefined)?.['functionCall'])['name'];
}

/** @type {UsageFormat} */
const MESSAGES = {
  hasUsage: /"usage"/,
  delta: /"content_block_delta"/,
  end: /"message_stop"/,
  hasTool: /"content_block_start"/,
  read: readMessages,
  tool: toolOfMessages,
};
/** @type {UsageFormat} */
const OPENAI = {
  hasUsage: /"usage"\s*:\s*\{/,
  delta: /\.delta"|"delta":/,
  end: /(?!)/,
  hasTool: /"response\.output_item\.added"|"tool_calls"/,
  read: readOpenai,
  tool: toolOfOpenai,
};
/** @type {UsageFormat} */
const GEMINI = {
  hasUsage: /"usageMetadata"/,
  delta: /"candidates"/,
  end: /(?!)/,
  hasTool: /"functionCall"/,
  read: readGemini,
  tool: toolOfGemini,
};

/** @param {ProviderApi | undefined} api @returns {UsageFormat} */
export function usageFormat(api) {
  if (api?.kind === 'openai' || api?.kind === 'chatgpt') return OPENAI;
  return api?.kind === 'gemini' || api?.kind === 'code-assist' ? GEMINI : MESSAGES;
}

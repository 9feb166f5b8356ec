// The APIs of providers other than Anthropic, one row each: which requests pass, what in them the provider would fetch,
// and which header carries the credential. OpenAI: platform.openai.com, "Responses" and "Chat completions". ChatGPT: the
// same requests behind a login of Codex. Gemini: ai.google.dev, "Generating content". Code Assist: the same behind a
// login of Gemini CLI. Copilot: forms of the others, by the path.
import { Refused } from './egress.mjs';
import { cleanName } from './names.mjs';

/**
 * @typedef {import('../../src/core/types/agent/credential.ts').ProviderApi} ProviderApi
 * @typedef {import('../../src/core/types/agent/credential.ts').Secret} Secret
 * @typedef {(url: unknown) => string} JudgeUrl gives the URL as it was parsed here; throws Refused
 * @typedef {{
 *   passes: (method: string, path: string, query: string | undefined) => { counted: boolean, model?: string } | undefined,
 *   judge: (body: unknown, judgeUrl: JudgeUrl) => void,
 *   credential: (secret: Secret) => string[],
 *   unasked?: RegExp,
 * }} OtherApi
 */

const MODEL = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}';
const COUNTED = { counted: true };
const FREE = { counted: false };

/** @param {Secret} secret */
const bearer = (secret) => ['authorization', `Bearer ${secret.value}`];

/** @param {string} base path before the method's name @returns {OtherApi['passes']} */
function openaiPaths(base) {
  const counted = new Set(['/responses', '/responses/compact', '/chat/completions'].map((name) => `${base}${name}`));
  const models = new RegExp(`^${base}/models(/${MODEL})?$`);
  return (method, path, query) => {
    if (method === 'POST' && query === undefined && counted.has(path)) return COUNTED;
    const isPlain = query === undefined || /^client_version=[0-9A-Za-z.-]{1,40}$/.test(query);
    return method === 'GET' && isPlain && models.test(path) ? FREE : undefined;
  };
}

/** Fields that name what is stored at the provider, or keep the request running there after its connection ended. */
const OPENAI_STORED = ['previous_response_id', 'conversation', 'prompt', 'background'];
/** Tools that the client runs. All others run at the provider, and reach other servers, or the account's files. */
const OPENAI_TOOLS = new Set(['function', 'custom', 'namespace', 'local_shell', 'apply_patch']);
const OPENAI_DATA = new Set(['arguments', 'parameters', 'schema', 'metadata', 'client_metadata']);

/** @param {Record<string, unknown>} tool */
function judgeOpenaiTool(tool) {
  const { type } = tool;
  if (typeof type !== 'string') throw new Refused('a tool without a type is not passed');
  // With live access it opens any page that the model names.
  if (type.startsWith('web_search') && tool['external_web_access'] !== false)
    throw new Refused('a web search with live access to pages is not passed');
  const isSearched = type === 'tool_search' && tool['execution'] === 'client';
  if (!OPENAI_TOOLS.has(type) && !isSearched && type !== 'web_search')
    throw new Refused(`the ${cleanName(type)} tool that runs at the provider is not passed`);
}

/** @param {unknown} body @param {JudgeUrl} judgeUrl */
function judgeOpenai(body, judgeUrl) {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refused('the request is not an object');
  const request = /** @type {Record<string, unknown>} */ (body);
  for (const name of OPENAI_STORED)
    if (request[name] !== undefined && request[name] !== null && request[name] !== false)
      throw new Refused(`${name}: what is stored at the provider is not passed`);
  const { model } = request;
  const searches = typeof model === 'string' && model.toLowerCase().includes('search');
  if (searches || (request['web_search_options'] ?? undefined) !== undefined)
    throw new Refused('a web search with live access to pages is not passed');
  judgeOpenaiPart(request, judgeUrl, false);
  // Without this a streamed chat completion does not show what it costs.
  if ('messages' in request && (request['stream'] ?? false) !== false)
    request['stream_options'] = { .../** @type {object} */ (request['stream_options']), include_usage: true };
}

/** @param {unknown} value @param {JudgeUrl} judgeUrl @param {boolean} isTool the value is a tool's description */
function judgeOpenaiPart(value, judgeUrl, isTool) {
  if (Array.isArray(value)) {
    for (const one of value) judgeOpenaiPart(one, judgeUrl, isTool);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const record = /** @type {Record<string, unknown>} */ (value);
  const type = typeof record['type'] === 'string' ? record['type'].toLowerCase() : '';
  if (isTool) judgeOpenaiTool(record);
  for (const name of ['file_id', 'vector_store_ids', 'item_reference'])
    if (record[name] !== undefined && record[name] !== null)
      throw new Refused(`${name}: the account's files are not passed`);
  if (type === 'item_reference') throw new Refused('item_reference: what is stored at the provider is not passed');
  for (const name of ['image_url', 'file_url']) {
    const url = record[name];
    if (typeof url === 'string' && !url.startsWith('data:')) record[name] = judgeUrl(url);
    if (typeof url === 'object' && url !== null) judgeImage(/** @type {Record<string, unknown>} */ (url), judgeUrl);
  }
  for (const [name, one] of Object.entries(record))
    if (!OPENAI_DATA.has(name) || Array.isArray(one)) judgeOpenaiPart(one, judgeUrl, name === 'tools');
}

/** The image of a chat completion: an object with a URL. @param {Record<string, unknown>} image @param {JudgeUrl} judgeUrl */
function judgeImage(image, judgeUrl) {
  const { url } = image;
  if (typeof url === 'string' && !url.startsWith('data:')) image['url'] = judgeUrl(url);
}

const GENERATE = new RegExp(`^/v1beta/models/(${MODEL}):(generateContent|streamGenerateContent|countTokens)$`);
const GEMINI_MODELS = new RegExp(`^/v1beta/models(/${MODEL})?$`);
const ASSIST = /^\/v1internal:(\w+)$/;
/** What Gemini CLI has to ask when it starts; it changes nothing. */
const ASSIST_FREE = new Set(['countTokens', 'loadCodeAssist', 'retrieveUserQuota', 'listExperiments']);

/** A stream is passed only as events: only there its usage is found while it runs.
 * @param {string} verb @param {string | undefined} query */
const isGeneration = (verb, query) =>
  verb === 'streamGenerateContent' ? query === 'alt=sse' : verb === 'generateContent' && query === undefined;

/** JSON names of these APIs are read in both spellings. @param {string} name */
const plainName = (name) => name.replaceAll('_', '').toLowerCase();

/** Tools that the client runs, and those of the provider that reach no server that the model names. */
const GEMINI_TOOLS = new Set(['functiondeclarations', 'googlesearch', 'codeexecution']);

/** What is data of the agent, and nothing for the provider to fetch, as 'where.name'. */
const GEMINI_DATA = new Set([
  ...['functioncall.args', 'functionresponse.response', 'tools.functiondeclarations'],
  ...['generationconfig.responseschema', 'generationconfig.responsejsonschema'],
]);

/** @param {unknown} value @param {JudgeUrl} judgeUrl @param {string} [where] plain name of what it is the value of */
function judgeGemini(value, judgeUrl, where = '') {
  if (Array.isArray(value)) {
    for (const one of value) judgeGemini(one, judgeUrl, where);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const record = /** @type {Record<string, unknown>} */ (value);
  for (const [name, one] of Object.entries(record)) {
    const plain = plainName(name);
    if (where === 'tools' && !GEMINI_TOOLS.has(plain))
      throw new Refused(`the ${cleanName(name)} tool that runs at the provider is not passed`);
    if (plain === 'cachedcontent') throw new Refused('cachedContent: what is stored at the provider is not passed');
    if (plain === 'fileuri') record[name] = judgeUrl(one);
    else if (!GEMINI_DATA.has(`${where}.${plain}`)) judgeGemini(one, judgeUrl, plain);
  }
}

const COPILOT_COUNTED = new Set(['/responses', '/chat/completions', '/v1/messages']);

/** @type {Readonly<Record<string, (api: ProviderApi) => OtherApi>>} */
const OTHERS = {
  openai: () => ({ passes: openaiPaths('/v1'), judge: judgeOpenai, credential: bearer }),
  chatgpt: (api) => ({
    passes: openaiPaths(''),
    judge: judgeOpenai,
    credential: (secret) => [...bearer(secret), ...(api.kind === 'chatgpt' ? ['chatgpt-account-id', api.account] : [])],
  }),
  gemini: () => ({
    passes: (method, path, query) => {
      if (method === 'GET' && query === undefined && GEMINI_MODELS.test(path)) return FREE;
      const [, model = '', verb = ''] = (method === 'POST' && GENERATE.exec(path)) || [];
      if (verb === 'countTokens' && query === undefined) return FREE;
      return isGeneration(verb, query) ? { counted: true, model } : undefined;
    },
    judge: (body, judgeUrl) => judgeGemini(body, judgeUrl),
    credential: (secret) => ['x-goog-api-key', secret.value],
  }),
  copilot: () => ({
    passes: (method, path, query) => {
      if (query !== undefined) return undefined;
      if (method === 'GET' && path === '/models') return FREE;
      return method === 'POST' && COPILOT_COUNTED.has(path) ? COUNTED : undefined;
    },
    judge: judgeOpenai,
    credential: bearer,
    // Its MCP server with the user's repositories, its telemetry and its session at the provider.
    unasked: /^\/(mcp|telemetry|agents|models\/session)(\/|$)/,
  }),
  'code-assist': () => ({
    passes: (method, path, query) => {
      const [, verb = ''] = (method === 'POST' && ASSIST.exec(path)) || [];
      if (query === undefined && ASSIST_FREE.has(verb)) return FREE;
      return isGeneration(verb, query) ? COUNTED : undefined;
    },
    judge: (body, judgeUrl) => judgeGemini(body, judgeUrl),
    credential: bearer,
    unasked: /^\/v1internal:(recordCodeAssistMetrics|fetchAdminControls|getCodeAssistGlobalUserSetting)$/,
  }),
};

/** The API whose form a request has. @param {ProviderApi} api @param {string} path @returns {ProviderApi} */
export function formOf(api, path) {
  if (api.kind !== 'copilot') return api;
  return { kind: path === '/v1/messages' ? 'anthropic' : 'openai' };
}

/** The row of an API; undefined for Anthropic's, and for those of clouds. @param {ProviderApi} api
 * @returns {OtherApi | undefined} */
export function otherApi(api) {
  return Object.hasOwn(OTHERS, api.kind) ? OTHERS[api.kind]?.(api) : undefined;
}

/** Whether the client asks this by itself: its refusal is not shown. @param {ProviderApi} api @param {string} path */
export const isUnasked = (api, path) => otherApi(api)?.unasked?.test(path) === true;

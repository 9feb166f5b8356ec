import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createBudget, UsageReader } from '../../../../images/gateway/usage.mjs';
import type { CredentialSource, ProviderApi, Secret } from '../../../../src/core/types/agent/credential.ts';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { pricesOf } from '../../../../src/network/gateway/pricing.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';

interface Upstream extends AsyncDisposable {
  readonly port: number;
  readonly seen: { readonly line: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
}

/** A provider that takes anything. */
async function startUpstream(): Promise<Upstream> {
  const seen: Upstream['seen'] = [];
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.on('data', (part) => {
      body += part;
    });
    incoming.on('end', () => {
      seen.push({ line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function start(
  api: ProviderApi,
  upstream: Upstream,
  kind: Secret['kind'],
  more: Partial<GatewayConfig> = {},
): Promise<GatewayProcess> {
  const current = async (): Promise<Secret> => ({ kind, value: 'real-1' });
  const credential: CredentialSource = { name: 'test', kind, current, refresh: current };
  const provider = { url: `http://127.0.0.1:${upstream.port}/base`, relay: true, api };
  return GatewayProcess.start({
    targets: { provider: { host: '127.0.0.1', port: upstream.port } },
    credential,
    config: { provider, ...more },
  });
}

/** What an agent that wants another account, another key or more rights would add. */
const AGENTS_HEADERS = {
  authorization: 'Bearer mine',
  'x-goog-api-key': 'mine',
  'x-goog-user-project': 'mine',
  'chatgpt-account-id': 'mine',
  'openai-organization': 'mine',
  'openai-project': 'mine',
  cookie: 'a=b',
  // In these the provider would read another body than the one that was judged.
  'content-type': 'application/json; charset=utf-7',
  'content-encoding': 'identity',
  'content-language': 'mine',
};

function ask(gateway: GatewayProcess, line: string, body: unknown = {}): Promise<number> {
  const [method = '', target = ''] = line.split(' ');
  return new Promise((done, failed) => {
    const socketPath = path.join(gateway.dir, 'api.sock');
    const out = request({ socketPath, method, path: target, headers: AGENTS_HEADERS }, (answer) => {
      answer.resume().on('end', () => done(answer.statusCode ?? 0));
    });
    out.on('error', failed);
    out.end(method === 'POST' ? JSON.stringify(body) : undefined);
  });
}

/** Paths that no API of a provider gets. */
const NEVER = [
  'GET /',
  'GET /v1/organization/admin_api_keys',
  'POST /v1/organization/admin_api_keys',
  'GET /v1/files',
  'POST /v1/files',
  'POST /v1/uploads',
  'POST /v1/batches',
  'POST /v1/assistants',
  'GET /v1/responses/resp_1',
  'DELETE /v1/responses/resp_1',
  'DELETE /v1/models/gpt-5',
  'POST /v1/responses/../files',
  'POST //v1/responses',
  'POST /v1/responses%2f..%2ffiles',
  'POST /v1/Responses',
  'POST /v1/responses?x=1',
  'PUT /v1/responses',
  'GET /v1/models?client_version=../..',
  'GET /wham/usage',
  'POST /wham/tasks',
  'GET /accounts/check',
  'POST /oauth/token',
  'POST /upload/v1beta/files',
  'GET /v1beta/files',
  'POST /v1beta/cachedContents',
  'POST /v1beta/models/m:generateContent?key=mine',
  'POST /v1beta/models/m:streamGenerateContent',
  'POST /v1beta/models/m:batchGenerateContent',
  'POST /v1beta/models/m/../../files:generateContent',
  'POST /v1beta/tunedModels/m:generateContent',
  'POST /v1internal:onboardUser',
  'POST /v1internal:setCodeAssistGlobalUserSetting',
  'GET /v1internal/operations/x',
  'POST /v1internal:loadCodeAssist?x',
];

interface Case {
  readonly api: ProviderApi;
  readonly kind: Secret['kind'];
  readonly passed: readonly string[];
  readonly header: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  {
    api: { kind: 'copilot' },
    kind: 'oauth',
    passed: ['GET /models', 'POST /responses', 'POST /chat/completions', 'POST /v1/messages'],
    header: { authorization: 'Bearer real-1' },
  },
  {
    api: { kind: 'openai' },
    kind: 'api-key',
    passed: ['POST /v1/responses', 'POST /v1/responses/compact', 'POST /v1/chat/completions', 'GET /v1/models/gpt-5'],
    header: { authorization: 'Bearer real-1' },
  },
  {
    api: { kind: 'chatgpt', account: 'account-1' },
    kind: 'oauth',
    passed: [
      'GET /models',
      'POST /chat/completions',
      'POST /responses',
      'POST /responses/compact',
      'GET /models?client_version=0.169.0',
    ],
    header: { authorization: 'Bearer real-1', 'chatgpt-account-id': 'account-1' },
  },
  {
    api: { kind: 'gemini' },
    kind: 'api-key',
    passed: [
      'POST /v1beta/models/gemini-3-pro:generateContent',
      'POST /v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
      'POST /v1beta/models/gemini-3-pro:countTokens',
      'GET /v1beta/models',
    ],
    header: { 'x-goog-api-key': 'real-1' },
  },
  {
    api: { kind: 'code-assist' },
    kind: 'oauth',
    passed: [
      'POST /v1internal:streamGenerateContent?alt=sse',
      'POST /v1internal:generateContent',
      'POST /v1internal:countTokens',
      'POST /v1internal:loadCodeAssist',
      'POST /v1internal:retrieveUserQuota',
    ],
    header: { authorization: 'Bearer real-1' },
  },
];

it.each(CASES)('$api.kind: passes inference with its own credential, and nothing else', async (one) => {
  await using upstream = await startUpstream();
  await using gateway = await start(one.api, upstream, one.kind);
  for (const line of one.passed) expect([line, await ask(gateway, line)]).toEqual([line, 200]);
  const others = CASES.flatMap(({ passed }) => passed).filter((line) => !one.passed.includes(line));
  for (const line of [...NEVER, ...others]) expect([line, await ask(gateway, line)]).toEqual([line, 403]);
  expect(upstream.seen.map(({ line }) => line)).toEqual(one.passed.map((line) => line.replace(' ', ' /base')));
  for (const { line, headers } of upstream.seen) {
    expect(headers).toMatchObject(one.header);
    expect(headers['content-type']).toBe(line.startsWith('POST') ? 'application/json' : undefined);
    expect(headers['content-encoding']).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain('mine');
    expect(headers.cookie).toBeUndefined();
  }
  expect(gateway.kept.usage().requests).toBe(one.passed.length);
});

const picture = (url: unknown) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] });
const tool = (type: string, more = {}) => ({ tools: [{ type: 'namespace', tools: [{ type, ...more }] }] });

it('does not let OpenAI fetch, run or read for the agent what the rules do not allow', async () => {
  await using upstream = await startUpstream();
  const rules = [{ host: 'pictures.example', from: 'test' }];
  await using gateway = await start({ kind: 'openai' }, upstream, 'api-key', { rules });
  const send = (body: unknown): Promise<number> => ask(gateway, 'POST /v1/responses', body);
  const passed = [
    picture('data:image/png;base64,AAAA'),
    picture('https://pictures.example/a.png'),
    tool('function', { parameters: { properties: { image_url: { type: 'string' }, file_id: 'x' } } }),
    ...['custom', 'local_shell', 'apply_patch'].map((type) => tool(type)),
    tool('tool_search', { execution: 'client' }),
    { text: { format: { type: 'json_schema', schema: { properties: { tools: { type: 'array' } } } } } },
    { input: [{ type: 'computer_call_output', output: { image_url: 'https://pictures.example/a.png' } }] },
    tool('web_search', { external_web_access: false }),
    { input: [{ type: 'function_call', arguments: '{"file_id":"x"}' }], store: false },
    { messages: [{ content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] }] },
  ];
  for (const body of passed) expect([body, await send(body)]).toEqual([body, 200]);
  const refused = [
    picture('https://elsewhere.example/?stolen'),
    picture('http:elsewhere.example'),
    {
      input: [
        { type: 'function_call_output', output: [{ type: 'input_image', image_url: 'https://elsewhere.example' }] },
      ],
    },
    { messages: [{ content: [{ type: 'image_url', image_url: { url: 'https://elsewhere.example' } }] }] },
    { input: [{ content: [{ type: 'input_file', file_url: 'https://elsewhere.example' }] }] },
    { input: [{ content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    { input: [{ type: 'item_reference', id: 'x' }] },
    tool('mcp', { server_url: 'https://elsewhere.example' }),
    tool('MCP'),
    tool('file_search', { vector_store_ids: ['x'] }),
    tool('code_interpreter'),
    tool('shell'),
    ...['computer_use_preview', 'image_generation', 'tool_search', 'something_new', ' web_search'].map((type) =>
      tool(type),
    ),
    { tools: [{ name: 'x' }] },
    { tools: { type: 'mcp' } },
    { tool_choice: { type: 'allowed_tools', tools: [{ type: 'mcp' }] } },
    { messages: [], web_search_options: {} },
    { model: 'gpt-4o-search-preview', messages: [] },
    { model: 'o3-deep-research' },
    { input: [{ type: 'computer_call_output', output: { image_url: 'https://elsewhere.example' } }] },
    { input: [{ type: 'computer_call_output', output: { file_id: 'file-1' } }] },
    tool('web_search_preview', { external_web_access: false }),
    tool('web_search'),
    tool('web_search_preview', { external_web_access: true }),
    { previous_response_id: 'resp_1' },
    { conversation: 'conv_1' },
    { prompt: { id: 'pmpt_1' } },
    { background: true },
    [],
  ];
  for (const body of refused) expect([body, await send(body)]).toEqual([body, 403]);
  expect(upstream.seen).toHaveLength(passed.length);
});

it('does not let Google fetch, run or read for the agent what the rules do not allow', async () => {
  await using upstream = await startUpstream();
  await using gateway = await start({ kind: 'code-assist' }, upstream, 'oauth', {
    rules: [{ host: 'pictures.example', from: 'test' }],
  });
  const send = (request: unknown): Promise<number> =>
    ask(gateway, 'POST /v1internal:generateContent', { model: 'm', request });
  const file = (fileUri: string, name = 'fileData') => ({ contents: [{ parts: [{ [name]: { fileUri } }] }] });
  const passed = [
    file('https://pictures.example/a.png'),
    { tools: [{ functionDeclarations: [{ name: 'x', parameters: { properties: { urlContext: {} } } }] }] },
    { contents: [{ parts: [{ functionCall: { args: { fileUri: 'https://elsewhere.example' } } }] }] },
    { tools: [{ googleSearch: {} }, { google_search: {}, code_execution: {} }] },
    { contents: [{ parts: [{ function_response: { response: { fileData: { fileUri: 'x' } } } }] }] },
    { generationConfig: { responseJsonSchema: { properties: { tools: { type: 'array', fileUri: 1 } } } } },
  ];
  for (const body of passed) expect([body, await send(body)]).toEqual([body, 200]);
  const refused = [
    file('https://elsewhere.example/?stolen'),
    file('gs://bucket/file'),
    { contents: [{ parts: [{ file_data: { file_uri: 'https://elsewhere.example' } }] }] },
    { tools: [{ urlContext: {} }] },
    { tools: [{ url_context: {} }] },
    ...['retrieval', 'enterprise_web_search', 'googleSearchRetrieval', 'mcpServers', 'computerUse', 'somethingNew'].map(
      (name) => ({ tools: [{ functionDeclarations: [], [name]: {} }] }),
    ),
    ...['functionResponse', 'function_response', 'functionCall'].map((name) => ({
      contents: [{ parts: [{ [name]: { parts: [{ fileData: { fileUri: 'https://elsewhere.example' } }] } }] }],
    })),
    { contents: [{ parameters: { fileData: { fileUri: 'https://elsewhere.example' } } }] },
    { tools: [{ fileSearch: { fileSearchStoreNames: ['x'] } }] },
    { cachedContent: 'cachedContents/x' },
  ];
  for (const body of refused) expect([body, await send(body)]).toEqual([body, 403]);
  expect(upstream.seen).toHaveLength(passed.length);
});

it('judges a request to Copilot by the form of its path', async () => {
  await using upstream = await startUpstream();
  await using gateway = await start({ kind: 'copilot' }, upstream, 'oauth');
  const send = (target: string, body: object): Promise<number> => ask(gateway, `POST ${target}`, body);
  const mcp = { model: 'm', mcp_servers: [{ url: 'https://elsewhere.example' }] };
  expect(await send('/v1/messages', mcp)).toBe(403);
  expect(await send('/v1/messages', { model: 'm', tools: [{ type: 'web_fetch_20250910' }] })).toBe(403);
  expect(await send('/responses', { model: 'm', tools: [{ type: 'mcp', server_url: 'https://x' }] })).toBe(403);
  expect(await send('/chat/completions', { model: 'm', messages: [], web_search_options: {} })).toBe(403);
  expect(await send('/v1/messages', { model: 'm', tools: [{ name: 'x', input_schema: {} }], messages: [] })).toBe(200);
  expect(upstream.seen.map(({ line }) => line)).toEqual(['POST /base/v1/messages']);
});

function usageOf(api: ProviderApi, type: string, text: string, asked = 4000) {
  const reader = new UsageReader(asked, api);
  reader.begin(type);
  for (let at = 0; at < text.length; at += 61) reader.push(Buffer.from(text.slice(at, at + 61)));
  const budget = createBudget({
    prices: pricesOf(api),
    usage: { requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
  } as unknown as GatewayConfig);
  budget.open(reader, 'model-that-was-asked-for');
  budget.close(reader, reader.total());
  return budget.usage();
}

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');
const SSE = 'text/event-stream';
const M = 1_000_000;

it('reads what OpenAI charges, streamed and whole, and estimates what the client did not wait for', () => {
  const usage = { input_tokens: M, input_tokens_details: { cached_tokens: M / 2 }, output_tokens: M / 10 };
  const response = { model: 'gpt-5.1-2026-01-01', usage };
  const counted = { inputTokens: M, outputTokens: M / 10 };
  const text = { type: 'response.output_text.delta', delta: 'text of "usage":{"input_tokens":1} in it' };
  const streamed = usageOf({ kind: 'openai' }, SSE, sse({ response: { usage: null } }, text, { response }));
  expect(streamed).toMatchObject(counted);
  expect(streamed.costUsd).toBeCloseTo(0.625 + 0.0625 + 1);
  expect(usageOf({ kind: 'chatgpt', account: 'a' }, 'application/json', JSON.stringify(response))).toEqual(streamed);
  const chat = { prompt_tokens: M, prompt_tokens_details: { cached_tokens: M / 2 }, completion_tokens: M / 10 };
  const chunk = { choices: [{ delta: { content: 'x' } }], usage: null };
  expect(usageOf({ kind: 'openai' }, SSE, sse(chunk, { model: 'gpt-5.1', usage: chat }))).toEqual(streamed);
  const searched = { ...response, output: [{ type: 'web_search_call' }], service_tier: 'priority' };
  expect(usageOf({ kind: 'openai' }, SSE, sse({ response: searched })).costUsd).toBeCloseTo(2 * 1.6875 + 0.01);

  const left = usageOf({ kind: 'openai' }, SSE, sse(...Array.from({ length: 50 }, () => text)));
  // Thoughts are not shown, so that what was seen is only a part.
  expect(left).toMatchObject({ inputTokens: 1000, outputTokens: 8000 });
});

it('estimates an answer of OpenAI that ended without its usage by what it could have cost', () => {
  const output = (type: string, text: string, limit?: number): number | undefined => {
    const reader = new UsageReader(4000, { kind: 'openai' }, limit);
    reader.begin(type);
    reader.push(Buffer.from(text));
    return reader.total().output_tokens;
  };
  for (const [type, text] of [
    [SSE, ''],
    [SSE, sse({ choices: [{ delta: {} }], usage: null }, { choices: [], usage: {} })],
    ['application/json', '{}'],
    ['application/json', '{"usage":null}'],
    ['application/json', '{"usa'],
  ] as const) {
    expect(output(type, text)).toBe(8000);
    expect(output(type, text, 30_000)).toBe(30_000);
  }
  const long = Array.from({ length: 9000 }, () => ({ delta: 'x' }));
  expect(output(SSE, sse(...long), 20)).toBeGreaterThanOrEqual(9000);
  expect(output('application/json', '{"usage":{"input_tokens":1,"output_tokens":2}}', 30_000)).toBe(2);
});

it('asks for the usage of a streamed chat completion, which OpenAI shows only then', async () => {
  await using upstream = await startUpstream();
  await using gateway = await start({ kind: 'openai' }, upstream, 'api-key');
  const messages: unknown[] = [];
  const sent = async (line: string, body: object): Promise<unknown> => {
    expect(await ask(gateway, line, body)).toBe(200);
    return JSON.parse(upstream.seen.at(-1)?.body ?? '');
  };
  const chat = 'POST /v1/chat/completions';
  for (const stream_options of [undefined, null, [], 'x', { include_usage: false }])
    expect(await sent(chat, { messages, stream: true, stream_options })).toMatchObject({
      stream_options: { include_usage: true },
    });
  const others = { include_obfuscation: false };
  expect(await sent(chat, { messages, stream: true, stream_options: others })).toMatchObject({
    stream_options: { ...others, include_usage: true },
  });
  expect(await sent(chat, { messages })).toEqual({ messages });
  expect(await sent('POST /v1/responses', { input: [], stream: true })).toEqual({ input: [], stream: true });
  // No answer had its usage: each counted by its limit, or by 8,000 tokens.
  await sent(chat, { messages, max_completion_tokens: 50_000, n: 2 });
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(8 * 8000 + 100_000);
});

it('prices a model by its own row only, and every other one as the dearest', () => {
  const cost = (kind: 'openai' | 'gemini', model: string): number => {
    const usage = { input_tokens: M / 10, output_tokens: M };
    const usageMetadata = { promptTokenCount: M / 10, candidatesTokenCount: M };
    const text = JSON.stringify(kind === 'openai' ? { model, usage } : { modelVersion: model, usageMetadata });
    return usageOf({ kind }, 'application/json', text).costUsd;
  };
  for (const model of ['gpt-5.1', 'gpt-5.1-2026-01-01', 'gpt-5.1-latest', 'gpt-5.1-preview', 'gpt-5.1-codex'])
    expect([model, cost('openai', model)]).toEqual([model, 10.125]);
  for (const model of ['gpt-5.1-pro', 'gpt-5.1-pro-2026-01-01', 'gpt-5.4-pro', 'gpt-5.12', 'gpt-9', 'o9-pro', '*'])
    expect([model, cost('openai', model)]).toEqual([model, 615]);
  for (const model of ['gemini-2.5-pro', 'gemini-2.5-pro-preview-06-05', 'gemini-2.5-pro-001'])
    expect([model, cost('gemini', model)]).toEqual([model, 10.125]);
  for (const model of ['gemini-2.5-pro-preview-tts', 'gemini-3-pro-image', 'gemini-3-pro-image-preview', 'veo-9'])
    expect([model, cost('gemini', model)]).toEqual([model, 122]);
});

it('reads what Google charges, thoughts included, streamed and whole, and inside the answer of a login', () => {
  const usageMetadata = {
    promptTokenCount: M / 5,
    cachedContentTokenCount: M / 10,
    candidatesTokenCount: M / 20,
    thoughtsTokenCount: M / 20,
    toolUsePromptTokenCount: 0,
  };
  const parts = { candidates: [{ content: { parts: [{ text: 'x' }] } }], usageMetadata: { promptTokenCount: 1 } };
  const last = { candidates: [{ finishReason: 'STOP' }], modelVersion: 'gemini-2.5-pro', usageMetadata };
  const counted = { inputTokens: M / 5, outputTokens: M / 10 };
  const streamed = usageOf({ kind: 'gemini' }, SSE, sse(parts, last));
  expect(streamed).toMatchObject(counted);
  expect(streamed.costUsd).toBeCloseTo(0.125 + 0.0125 + 1);
  expect(usageOf({ kind: 'gemini' }, 'application/json', JSON.stringify(last, undefined, 2))).toEqual(streamed);
  expect(usageOf({ kind: 'code-assist' }, SSE, sse({ response: parts }, { response: last }))).toEqual(streamed);
  const left = usageOf({ kind: 'gemini' }, SSE, sse({ candidates: [] }, { candidates: [] }));
  expect(left).toMatchObject({ inputTokens: 1000, outputTokens: 8000 });
  const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } };
  expect(usageOf({ kind: 'gemini' }, SSE, sse(blocked))).toMatchObject({ inputTokens: 9, outputTokens: 0 });
});

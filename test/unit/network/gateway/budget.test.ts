import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CredentialSource, ProviderApi, Secret } from '../../../../src/core/types/agent/credential.ts';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { pricesOf } from '../../../../src/network/gateway/pricing.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';

// What --max-cost counts of answers that the agent does not wait for, in each form of an API. The provider is a real
// server, and finishes an answer whoever listens.

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** One frame of Bedrock's event stream with an event of the Messages API. */
function frame(event: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  const payload = Buffer.from(JSON.stringify({ bytes }));
  const head = Buffer.alloc(12);
  head.writeUInt32BE(payload.length + 16, 0);
  return Buffer.concat([head, payload, Buffer.alloc(4)]);
}

interface Form {
  readonly name: string;
  readonly api: ProviderApi;
  readonly secret?: Secret['kind'];
  readonly path: string;
  /** A request that allows 64,000 tokens of output. */
  readonly body: object;
  readonly type: string;
  /** The beginning of an answer, and the end, which has the usage: 7 tokens in, 30,000 out. */
  readonly first: string | Buffer;
  readonly last: string | Buffer;
}

const start = {
  type: 'message_start',
  message: { model: 'claude-opus-5', usage: { input_tokens: 7, output_tokens: 1 } },
};
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } };
const end = [{ type: 'message_delta', delta: {}, usage: { output_tokens: 30_000 } }, { type: 'message_stop' }];
const SSE = 'text/event-stream';
const JSON_TYPE = 'application/json';
const messages = { model: 'claude-opus-5', max_tokens: 64_000, stream: true, messages: [] };
const responses = { model: 'gpt-5.1', max_output_tokens: 64_000, stream: true, input: [] };
const gemini = { contents: [], generationConfig: { maxOutputTokens: 64_000 } };
const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 20_000, thoughtsTokenCount: 10_000 };
const piece = { candidates: [{ content: { parts: [{ text: 'x' }] } }] };
const stop = { candidates: [{ finishReason: 'STOP' }], modelVersion: 'gemini-2.5-pro', usageMetadata };
const spent = { input_tokens: 7, output_tokens: 30_000 };
const text = { type: 'response.output_text.delta', delta: 'x' };
const chat = { model: 'gpt-5.1', max_completion_tokens: 64_000, stream: true, messages: [] };
const chatEnd = { model: 'gpt-5.1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 30_000 } };
const streamed = { type: SSE, first: sse(start, delta), last: sse(...end) };
const whole = JSON.stringify({ model: 'claude-opus-5', usage: spent });
const keys = JSON.stringify({ accessKeyId: 'id', secretAccessKey: 'key' });

const FORMS: readonly Form[] = [
  { name: 'Messages', api: { kind: 'anthropic' }, path: '/v1/messages', body: messages, ...streamed },
  {
    name: 'Messages in one piece',
    api: { kind: 'anthropic' },
    path: '/v1/messages',
    body: { ...messages, stream: false },
    type: JSON_TYPE,
    first: whole.slice(0, 9),
    last: whole.slice(9),
  },
  {
    name: 'Bedrock',
    api: { kind: 'bedrock', region: 'eu-west-1' },
    secret: 'aws-keys',
    path: '/model/anthropic.claude-opus-5/invoke-with-response-stream',
    body: messages,
    type: 'application/vnd.amazon.eventstream',
    first: Buffer.concat([frame(start), frame(delta)]),
    last: Buffer.concat(end.map(frame)),
  },
  {
    name: 'Vertex',
    api: { kind: 'vertex', region: 'us-east5', project: 'mine' },
    path: '/projects/mine/locations/us-east5/publishers/anthropic/models/claude-opus-5:streamRawPredict',
    body: messages,
    ...streamed,
  },
  {
    name: 'Responses',
    api: { kind: 'openai' },
    path: '/v1/responses',
    body: responses,
    type: SSE,
    first: sse(text),
    last: sse({ response: { model: 'gpt-5.1', usage: spent } }),
  },
  {
    name: 'Responses behind a login',
    api: { kind: 'chatgpt', account: 'a' },
    path: '/responses',
    body: responses,
    type: SSE,
    first: sse(text),
    last: sse({ response: { model: 'gpt-5.1', usage: spent } }),
  },
  {
    name: 'chat completions',
    api: { kind: 'openai' },
    path: '/v1/chat/completions',
    body: chat,
    type: SSE,
    first: sse({ choices: [{ delta: { content: 'x' } }], usage: null }),
    last: sse(chatEnd),
  },
  { name: "Copilot's Messages", api: { kind: 'copilot' }, path: '/v1/messages', body: messages, ...streamed },
  {
    name: 'Gemini',
    api: { kind: 'gemini' },
    path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    body: gemini,
    type: SSE,
    first: sse(piece),
    last: sse(stop),
  },
  {
    name: 'Code Assist',
    api: { kind: 'code-assist' },
    path: '/v1internal:streamGenerateContent?alt=sse',
    body: { model: 'gemini-2.5-pro', request: gemini },
    type: SSE,
    first: sse({ response: piece }),
    last: sse({ response: stop }),
  },
];

let server: Server;
/** Answers that wait for their end. */
let begun: (() => void)[] = [];
/** Requests that arrived, and what the provider waits for before it answers. */
let asked = 0;
let mayBegin: Promise<void> = Promise.resolve();
let form: Form = FORMS[0] as Form;
/** What the provider does with a request; `end` gives the rest of the answer. */
let answer: (response: ServerResponse, end: () => void) => void;

beforeAll(async () => {
  server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      asked += 1;
      void mayBegin.then(() => {
        const { type, first, last } = form;
        response.writeHead(200, { 'content-type': type }).write(first);
        answer(response, () => response.end(last));
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  begun = [];
  asked = 0;
  mayBegin = Promise.resolve();
  answer = (_, rest) => void begun.push(rest);
});

function startGateway(one: Form, more: Partial<GatewayConfig> = {}): Promise<GatewayProcess> {
  form = one;
  const kind = one.secret ?? 'auth-token';
  const current = async (): Promise<Secret> => ({ kind, value: kind === 'aws-keys' ? keys : 'real-1' });
  const credential: CredentialSource = { name: 'test', kind, current, refresh: current };
  const { port } = server.address() as AddressInfo;
  return GatewayProcess.start({
    targets: { provider: { host: '127.0.0.1', port } },
    credential,
    config: {
      provider: { url: `http://127.0.0.1:${port}`, relay: true, api: one.api },
      prices: pricesOf(one.api),
      ...more,
    },
  });
}

interface Asked {
  /** The status of the answer, once it has begun. */
  readonly status: Promise<number>;
  readonly leave: () => void;
}

function ask(gateway: GatewayProcess): Asked {
  const socketPath = path.join(gateway.dir, 'api.sock');
  const out = request({ socketPath, method: 'POST', path: form.path });
  const status = new Promise<number>((done) => {
    out.on('response', (response) => {
      response.resume().on('error', () => undefined);
      done(response.statusCode ?? 0);
    });
    out.on('error', () => done(0));
  });
  out.end(JSON.stringify(form.body));
  return { status, leave: () => out.destroy() };
}

describe.each(FORMS)('$name', (one) => {
  it('counts what the provider finished after the agent left, as the provider counts it', async () => {
    await using gateway = await startGateway(one);
    const agents = [1, 2, 3].map(() => ask(gateway));
    expect(await Promise.all(agents.map(({ status }) => status))).toEqual([200, 200, 200]);
    for (const { leave } of agents) leave();
    await new Promise((done) => setTimeout(done, 50));
    for (const finish of begun) finish();
    await expect.poll(() => gateway.kept.usage()).toMatchObject({ requests: 3, inputTokens: 21, outputTokens: 90_000 });
  });

  it('counts what its request allows where an answer breaks before its usage', async () => {
    await using gateway = await startGateway(one);
    answer = (response) => setTimeout(() => response.destroy(), 20);
    ask(gateway);
    await expect.poll(() => gateway.kept.usage().outputTokens).toBe(64_000);
  });
});

it('reads on for a bounded time, and counts what the request allows after it', async () => {
  const limits = { connections: 64, bytesPerConnection: 1 << 20, headMs: 5000, connectMs: 1500, idleMs: 60_000 };
  await using gateway = await startGateway(FORMS[0] as Form, { limits: { ...limits, readOnMs: 300 } });
  const agent = ask(gateway);
  await agent.status;
  agent.leave();
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(64_000);
  expect(begun).toHaveLength(1);
});

it('reads on also where the agent left before the answer began', async () => {
  await using gateway = await startGateway(FORMS[0] as Form);
  let begin: () => void = () => undefined;
  mayBegin = new Promise((done) => {
    begin = done;
  });
  const agent = ask(gateway);
  await expect.poll(() => asked).toBe(1);
  agent.leave();
  await new Promise((done) => setTimeout(done, 50));
  begin();
  await expect.poll(() => begun.length).toBe(1);
  for (const finish of begun) finish();
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(30_000);
});

it('counts what open answers have delivered, and lets no request past a limit that they have reached', async () => {
  await using gateway = await startGateway(FORMS[0] as Form, { maxCostUsd: 0.1 });
  // 0.1 dollars are 4,000 tokens of output.
  const many = sse(...Array.from({ length: 3000 }, () => delta));
  answer = (response) => {
    response.write(many);
    begun.push(() => response.end(sse(...end)));
  };
  const agents = [ask(gateway), ask(gateway)];
  await Promise.all(agents.map(({ status }) => status));
  await expect.poll(() => gateway.kept.usage().outputTokens).toBeGreaterThanOrEqual(6000);
  expect(gateway.kept.usage().outputTokens).toBeLessThan(10_000);
  expect(await ask(gateway).status).toBe(403);
  expect(await gateway.kept.exceeded).toContain('budget of $0.10 is used up');
  for (const finish of begun) finish();
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(60_000);
});

it('begins again with what open answers may have cost, where it is killed in the middle of them', async () => {
  await using gateway = await startGateway(FORMS[0] as Form, { maxCostUsd: 3 });
  const agents = [ask(gateway), ask(gateway)];
  await Promise.all(agents.map(({ status }) => status));
  process.kill(Number(gateway.pids[0]), 'SIGKILL');
  await Promise.all(agents.map(({ status }) => status));
  await expect.poll(() => gateway.pids.length).toBe(2);
  // Two answers of 64,000 tokens are 3.20 dollars.
  await expect.poll(() => ask(gateway).status).toBe(403);
  expect(await gateway.kept.exceeded).toContain('budget of $3.00 is used up');
  expect(gateway.kept.usage()).toMatchObject({ requests: 2, outputTokens: 128_000 });
});

import { expect, it } from 'vitest';
import { createBudget, UsageReader } from '../../../../images/gateway/usage.mjs';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { PRICES } from '../../../../src/network/gateway/pricing.ts';

const config = {
  prices: PRICES,
  usage: { requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
  maxCostUsd: undefined,
  maxRequests: undefined,
} as unknown as GatewayConfig;

/** A reader of an answer that has begun. */
function readerOf(type: string, asked: number, coding?: string, maxOutput?: number): UsageReader {
  const reader = new UsageReader(asked, undefined, maxOutput);
  reader.begin(type, coding);
  return reader;
}

/** What an answer with this usage costs, in US dollars. */
function cost(model: string, usage: object): number {
  const reader = readerOf('application/json', 0);
  reader.push(Buffer.from(JSON.stringify({ model, usage })));
  const budget = createBudget(config);
  budget.open(reader, model);
  budget.close(reader, reader.total());
  return budget.usage().costUsd;
}

const M = 1_000_000;

it('prices cache writes by their lifetime, long prompts, and searches of the provider', () => {
  const opus = 'claude-opus-5-20260801';
  const written = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: M };
  expect(cost(opus, written)).toBeCloseTo(6.25);
  expect(cost(opus, { ...written, cache_creation: { ephemeral_1h_input_tokens: M } })).toBeCloseTo(10);
  expect(
    cost(opus, {
      ...written,
      cache_creation: { ephemeral_5m_input_tokens: M / 2, ephemeral_1h_input_tokens: M / 2 },
    }),
  ).toBeCloseTo(8.125);
  expect(cost(opus, { cache_read_input_tokens: M, output_tokens: M })).toBeCloseTo(25.5);
  expect(cost('claude-sonnet-4-20250514', { input_tokens: 200_000, output_tokens: M })).toBeCloseTo(15.6);
  expect(cost('claude-sonnet-4-20250514', { input_tokens: M, output_tokens: M })).toBeCloseTo(28.5);
  expect(cost('claude-sonnet-4-6', { input_tokens: M, output_tokens: M })).toBeCloseTo(18);
  for (const model of ['claude-sonnet-5', 'claude-sonnet-5-5', 'claude-sonnet-5-20260101'])
    expect(cost(model, { input_tokens: M, output_tokens: M })).toBeCloseTo(18);
  expect(cost('something-new', { input_tokens: M })).toBe(Math.max(...PRICES.map((price) => price.input)));
  expect(cost(opus, { server_tool_use: { web_search_requests: 3 } })).toBeCloseTo(0.03);
});

const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const delta = (text: string): string => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });

it('counts what was delivered while a response runs, what its request allows when it breaks, and else its own usage', () => {
  const start = event('message_start', {
    message: { model: 'claude-opus-5', usage: { input_tokens: 7, output_tokens: 1 } },
  });
  const texts = [start, ...Array.from({ length: 50 }, () => delta('twelve chars'))].join('');
  const left = readerOf('text/event-stream', 4000, 'identity', 64_000);
  // In odd pieces, as a network gives them.
  for (let at = 0; at < texts.length; at += 77) left.push(Buffer.from(texts.slice(at, at + 77)));
  expect(left.delivered()).toMatchObject({ input_tokens: 7 });
  expect(left.delivered().output_tokens).toBeGreaterThanOrEqual(100);
  expect(left.delivered().output_tokens).toBeLessThan(1000);
  expect(left.total()).toMatchObject({ input_tokens: 7, output_tokens: 64_000 });

  const whole = readerOf('text/event-stream', 4000);
  // Text of the model is not an event, whatever it looks like.
  const said = delta('"usage": {"output_tokens": 0} "message_stop" data: {"type":"message_stop"}');
  whole.push(Buffer.from(texts + said));
  expect(whole.finished).toBe(false);
  whole.push(
    Buffer.from(event('message_delta', { delta: {}, usage: { output_tokens: 33 } }) + event('message_stop', {})),
  );
  expect(whole.total()).toEqual({ input_tokens: 7, output_tokens: 33 });

  expect(readerOf('text/event-stream', 4000, 'identity', 64).total()).toEqual({
    input_tokens: 1000,
    output_tokens: 64,
  });
  // Without a limit in the request, a fixed number.
  expect(readerOf('text/event-stream', 4000).total()).toEqual({ input_tokens: 1000, output_tokens: 8000 });
  // A server that ends a response in the usual way, and leaves its usage out.
  const silent = readerOf('text/event-stream', 4000, 'identity', 500);
  silent.push(Buffer.from(start + event('message_stop', {})));
  expect(silent.total()).toMatchObject({ output_tokens: 500 });
  const torn = readerOf('application/json', 4000);
  torn.push(Buffer.from('{"model":"claude-opus-5","usage":{"input_tok'));
  expect(torn.total()).toEqual({ input_tokens: 1000, output_tokens: 8000 });
});

it('counts usage that the top level omits: server-side rounds, faster modes, a chosen region, an encoding', () => {
  const costOf = (usage: object): number => cost('claude-opus-5', usage) * M;
  const top = { input_tokens: 1000, output_tokens: 100 };
  const plain = 1000 * 5 + 100 * 25;
  expect(costOf(top)).toBeCloseTo(plain);
  expect(costOf({ ...top, speed: 'standard', inference_geo: 'global', iterations: [] })).toBeCloseTo(plain);
  expect(costOf({ ...top, speed: 'fast' })).toBeCloseTo(plain * 2);
  expect(costOf({ ...top, inference_geo: 'us' })).toBeCloseTo(plain * 1.1);
  const compaction = { type: 'compaction', input_tokens: 180_000, output_tokens: 3500 };
  const message = { type: 'message', ...top };
  expect(costOf({ ...top, iterations: [compaction, message] })).toBeCloseTo(180_000 * 5 + 3500 * 25 + plain);
  const advice = { type: 'advisor_message', model: 'claude-fable-5', input_tokens: 10, output_tokens: 10 };
  expect(costOf({ ...top, iterations: [advice, message] })).toBeCloseTo(10 * 10 + 10 * 50 + plain);
  // Rounds that say less than the top, or nothing that can be read, do not make it cheaper.
  for (const iterations of [[{ input_tokens: 1, output_tokens: 1 }], [null, 'x'], {}])
    expect(costOf({ ...top, iterations })).toBeCloseTo(plain);
  for (const odd of ['many', { a: 1 }, -5, null]) {
    expect(costOf({ ...top, cache_read_input_tokens: odd, server_tool_use: { web_search_requests: odd } })).toBeCloseTo(
      plain,
    );
  }
  const empty = readerOf('application/json', 400);
  empty.push(Buffer.from('null'));
  expect(empty.total()).toMatchObject({ input_tokens: 100 });
  // What can't be read counts by its bytes.
  const reader = readerOf('text/event-stream', 400, 'gzip');
  reader.push(Buffer.alloc(5000));
  expect(reader.delivered()).toEqual({ input_tokens: 100, output_tokens: 5000 });
  expect(reader.total()).toEqual({ input_tokens: 100, output_tokens: 8000 });
});

it.each([
  [
    'the Messages API',
    undefined,
    event('content_block_start', { index: 1, content_block: { type: 'tool_use', id: 't', name: 'Edit', input: {} } }),
    event('content_block_start', { index: 2, content_block: { type: 'text', name: 'Other', text: '' } }),
  ],
  [
    'the Responses API',
    { kind: 'openai' } as const,
    event('response.output_item.added', { item: { type: 'function_call', name: 'Edit' } }),
    event('response.output_item.added', { item: { type: 'message', name: 'Other' } }),
  ],
  [
    'chat completions',
    { kind: 'openai' } as const,
    event('', { choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'Edit', arguments: '' } }] } }] }),
    event('', { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] } }] }),
  ],
  [
    'Gemini',
    { kind: 'gemini' } as const,
    event('', { candidates: [{ content: { parts: [{ text: 'x' }, { functionCall: { name: 'Edit' } }] } }] }),
    event('', { candidates: [{ content: { parts: [{ text: '"functionCall"' }] } }] }),
  ],
])('reads the tool that an answer of %s asks for, and keeps it after the answer', (_, api, asks, other) => {
  const budget = createBudget(config);
  const reader = new UsageReader(0, api);
  reader.begin('text/event-stream');
  budget.open(reader, 'some-model');
  expect(budget.tool()).toBeUndefined();
  reader.push(Buffer.from(`${asks}${other}data: "content_block_start" {torn\n`));
  expect(budget.tool()).toBe('Edit');
  budget.close(reader);
  expect(budget.tool()).toBe('Edit');
});

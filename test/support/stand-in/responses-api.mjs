// A stand-in for OpenAI's Responses API and its form behind a ChatGPT login, scripted by data, so that the real Codex
// runs real tools in tests.
import http from 'node:http';
import { readBody } from './messages-api.mjs';

/**
 * One answer of the model: a text, or shell commands to run.
 * @typedef {{ text?: string, commands?: string[], inputTokens?: number, cachedTokens?: number, outputTokens?: number }} Turn
 * @typedef {{ method: string, path: string, headers: http.IncomingHttpHeaders, body: unknown }} Seen
 * @typedef {{ turns: Turn[], accepts?: (credential: string) => boolean, models?: unknown }} Options models: answer to
 *   GET /models
 * @typedef {{ url: string, port: number, requests: Seen[], close: () => Promise<void> }} StandIn
 */

/** The name and the arguments of a call that runs `command` with one of the offered tools.
 * @param {unknown} body @param {string} command */
function callOf(body, command) {
  const tools = /** @type {{ tools?: { name?: string }[] }} */ (body).tools ?? [];
  const arg = JSON.stringify({ cmd: command });
  if (tools.some(({ name }) => name === 'exec_command'))
    return { type: 'function_call', name: 'exec_command', arguments: arg };
  if (tools.some(({ name }) => name === 'bash'))
    return { type: 'function_call', name: 'bash', arguments: JSON.stringify({ command, description: 'step' }) };
  // Newer models write a script that calls the tools.
  return { type: 'custom_tool_call', name: 'exec', input: `text(await tools.exec_command(${arg}))` };
}

/** @param {Options} options @returns {Promise<StandIn>} */
export async function startResponsesApi(options) {
  /** @type {Seen[]} */
  const requests = [];
  const turns = [...options.turns];
  let serial = 0;

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async function answer(request, response) {
    const body = await readBody(request);
    const path = request.url ?? '/';
    requests.push({ method: request.method ?? '', path, headers: request.headers, body });
    const credential = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (options.accepts !== undefined && !options.accepts(credential)) {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: 'token expired', type: 'invalid_request_error', code: 'token_expired' } }),
      );
      return;
    }
    if (request.method === 'GET' && path === '/models' && options.models !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(options.models));
      return;
    }
    if (request.method !== 'POST' || !/\/responses$/.test(path)) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    serial += 1;
    const turn = turns.shift() ?? { text: 'Done.' };
    const id = `resp_${serial}`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    /** @param {string} type @param {Record<string, unknown>} data */
    const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    send('response.created', { response: { id, object: 'response', status: 'in_progress', usage: null } });
    /** @type {Record<string, unknown>[]} */
    const output = [];
    for (const [index, command] of (turn.commands ?? []).entries())
      output.push({
        id: `fc_${serial}_${index}`,
        call_id: `call_${serial}_${index}`,
        status: 'completed',
        ...callOf(body, command),
      });
    if (turn.text !== undefined)
      output.push({
        type: 'message',
        id: `msg_${serial}`,
        role: 'assistant',
        content: [{ type: 'output_text', text: turn.text, annotations: [] }],
      });
    for (const [index, item] of output.entries()) {
      send('response.output_item.added', {
        output_index: index,
        item: { ...item, ...(item['content'] === undefined ? {} : { content: [] }) },
      });
      if (item['type'] === 'message')
        send('response.output_text.delta', {
          output_index: index,
          content_index: 0,
          item_id: item['id'],
          delta: turn.text,
        });
      send('response.output_item.done', { output_index: index, item });
    }
    const input = turn.inputTokens ?? 10;
    const out = turn.outputTokens ?? 20;
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: turn.cachedTokens ?? 0 },
      output_tokens: out,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + out,
    };
    const model = /** @type {{ model?: string }} */ (body).model;
    send('response.completed', { response: { id, object: 'response', status: 'completed', model, output, usage } });
    response.end();
  }

  const server = http.createServer((request, response) => void answer(request, response));
  // A busy machine pauses longer between two requests than Node keeps a connection.
  server.keepAliveTimeout = 600_000;
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

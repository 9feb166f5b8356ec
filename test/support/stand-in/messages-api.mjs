// A stand-in for the provider's Messages API, scripted by data, so that the real Claude Code runs real tools in tests
// and in scripts/try.sh. Plain JavaScript: run it with `node messages-api.mjs --script turns.json [--port N]
// [--log requests.jsonl]`; it prints its URL on the first line of stdout and ends at the end of its stdin or SIGTERM.
import { appendFileSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

/**
 * One answer of the model: text first, then tool calls. It waits for `after`; `delayMs` waits before each text chunk;
 * `status` answers with an HTTP error instead.
 * @typedef {{ text?: string, tools?: { name: string, input: Record<string, unknown> }[], delayMs?: number,
 *   after?: Promise<void>, status?: number, headers?: Record<string, string>, inputTokens?: number, outputTokens?: number }} Turn
 *
 * A request as it came in; `body` is parsed JSON, or the raw text.
 * @typedef {{ method: string, path: string, headers: Record<string, string>, body: unknown, main: boolean }} SeenRequest
 *
 * `turnFor` chooses the turn by the request; undefined takes the next of `turns`.
 * `accepts` judges the credential (the x-api-key, or the Authorization header's Bearer token); false gives a 401.
 * @typedef {{ turns: Turn[], host?: string, port?: number, accepts?: (credential: string) => boolean,
 *   tls?: { key: string, cert: string }, onRequest?: (request: SeenRequest) => void,
 *   quietly?: boolean, turnFor?: (body: unknown) => Turn | undefined }} StandInOptions
 *
 * @typedef {{ url: string, port: number, requests: SeenRequest[], turns: Turn[], close: () => Promise<void> }} StandIn
 */

/** @param {string} text */
const chunksOf = (text) => text.match(/[\s\S]{1,24}/g) ?? [];

/** @param {http.IncomingHttpHeaders} headers */
function credentialOf(headers) {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return key;
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}

/** @param {Turn} turn @param {number} serial */
function contentOf(turn, serial) {
  /** @type {Record<string, unknown>[]} */
  const content = [];
  if (turn.text !== undefined) content.push({ type: 'text', text: turn.text });
  for (const [index, tool] of (turn.tools ?? []).entries())
    content.push({ type: 'tool_use', id: `toolu_${serial}_${index}`, name: tool.name, input: tool.input });
  return content.length > 0 ? content : [{ type: 'text', text: 'Done.' }];
}

/** @param {Turn} turn @param {string} model @param {number} serial */
function messageOf(turn, model, serial) {
  return {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    model,
    content: contentOf(turn, serial),
    stop_reason: (turn.tools ?? []).length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: turn.inputTokens ?? 10,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: turn.outputTokens ?? 20,
    },
  };
}

/** @param {http.ServerResponse} response @param {ReturnType<typeof messageOf>} message @param {number} delayMs */
async function stream(response, message, delayMs) {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  /** @param {string} type @param {Record<string, unknown>} data */
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const { content, stop_reason, ...head } = message;
  send('message_start', {
    message: { ...head, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } },
  });
  for (const [index, block] of content.entries()) {
    const text = typeof block['text'] === 'string' ? block['text'] : undefined;
    const start = text === undefined ? { ...block, input: {} } : { ...block, text: '' };
    send('content_block_start', { index, content_block: start });
    for (const chunk of chunksOf(text ?? JSON.stringify(block['input']))) {
      if (delayMs > 0) await new Promise((done) => setTimeout(done, delayMs));
      if (response.destroyed) return;
      const delta =
        text === undefined ? { type: 'input_json_delta', partial_json: chunk } : { type: 'text_delta', text: chunk };
      send('content_block_delta', { index, delta });
    }
    send('content_block_stop', { index });
  }
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: message.usage });
  send('message_stop', {});
  response.end();
}

/** @param {http.ServerResponse} response @param {number} status @param {unknown} body @param {Record<string, string>} [headers] */
function json(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_stand_in', ...headers });
  response.end(JSON.stringify(body));
}

/** @param {http.IncomingMessage} request @returns {Promise<unknown>} JSON, or the text where it is none */
export async function readBody(request) {
  /** @type {Buffer[]} */
  const parts = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/**
 * Starts the stand-in on loopback (or `host`). A turn is taken for each `/v1/messages` request that offers tools (the
 * conversation itself); side requests (titles, quota) get a short text. After the last turn: 'Done.'.
 * @param {StandInOptions} options @returns {Promise<StandIn>}
 */
export async function startMessagesApi(options) {
  /** @type {SeenRequest[]} */
  const requests = [];
  const turns = [...options.turns];
  let serial = 0;

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  const answer = async (request, response) => {
    const body = /** @type {Record<string, unknown>} */ (await readBody(request));
    const path = request.url ?? '/';
    const name = path.split('?')[0] ?? '/';
    const messages = request.method === 'POST' && name.endsWith('/v1/messages');
    const main = messages && Array.isArray(body?.['tools']) && body['tools'].length > 0;
    const headers = /** @type {Record<string, string>} */ ({ ...request.headers });
    const seen = { method: request.method ?? '', path, headers, body, main };
    requests.push(seen);
    options.onRequest?.(seen);
    if (!messages && !name.endsWith('/count_tokens'))
      return json(response, name.endsWith('/api/hello') ? 200 : 404, {});
    if (options.accepts !== undefined && !options.accepts(credentialOf(request.headers)))
      return json(response, 401, {
        type: 'error',
        error: { type: 'authentication_error', message: 'OAuth token has expired or is invalid' },
      });
    if (!messages) return json(response, 200, { input_tokens: 10 });
    serial += 1;
    const turn = main ? (options.turnFor?.(body) ?? turns.shift() ?? {}) : { text: '{"title":"stand-in"}' };
    await turn.after;
    if (turn.status !== undefined && turn.status !== 200)
      return json(
        response,
        turn.status,
        { type: 'error', error: { type: 'api_error', message: 'scripted' } },
        turn.headers,
      );
    const message = messageOf(turn, String(body['model'] ?? 'claude-stand-in'), serial);
    if (body['stream'] !== true) return json(response, 200, message);
    return stream(response, message, turn.delayMs ?? 0);
  };

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  const listener = (request, response) => {
    answer(request, response).catch((error) => {
      if (!options.quietly) process.stderr.write(`stand-in: ${error}\n`);
      response.destroy();
    });
  };
  const server = options.tls ? https.createServer(options.tls, listener) : http.createServer(listener);
  const host = options.host ?? '127.0.0.1';
  await new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(options.port ?? 0, host, () => done(undefined));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `${options.tls ? 'https' : 'http'}://${host}:${port}`,
    port,
    requests,
    turns,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function main() {
  const words = process.argv.slice(2);
  /** @param {string} name */
  const option = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const script = option('--script');
  const log = option('--log');
  const standIn = await startMessagesApi({
    turns: script === undefined ? [] : JSON.parse(readFileSync(script, 'utf8')),
    port: Number(option('--port') ?? 0),
    onRequest: (request) => {
      if (log !== undefined) appendFileSync(log, `${JSON.stringify(request)}\n`);
    },
  });
  process.stdout.write(`${standIn.url}\n`);
  const stop = () => void standIn.close().then(() => process.exit(0));
  process.stdin.on('end', stop).resume();
  process.on('SIGTERM', stop);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();

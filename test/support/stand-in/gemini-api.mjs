// A stand-in for the Gemini API and for its form behind a Google login (Code Assist), scripted by data, so that the real
// Gemini CLI runs real tools in tests.
import http from 'node:http';
import { readBody } from './messages-api.mjs';

/**
 * One answer of the model: a text, or shell commands to run.
 * @typedef {{ text?: string, commands?: string[], inputTokens?: number, cachedTokens?: number, outputTokens?: number,
 *   thoughtTokens?: number }} Turn
 * @typedef {{ method: string, path: string, headers: http.IncomingHttpHeaders, body: unknown }} Seen
 * @typedef {{ turns: Turn[], accepts?: (credential: string) => boolean }} Options
 * @typedef {{ url: string, port: number, requests: Seen[], close: () => Promise<void> }} StandIn
 */

/** To the question which model to take. */
const SIDE = {
  text: JSON.stringify({ complexity_reasoning: 'x', complexity_score: 90, reasoning: 'x', model_choice: 'pro' }),
};

/** @param {Turn} turn @param {string} model */
function contentOf(turn, model) {
  const parts = [
    ...(turn.commands ?? []).map((command) => ({
      functionCall: { name: 'run_shell_command', args: { command, description: 'step' } },
    })),
    ...(turn.text === undefined ? [] : [{ text: turn.text }]),
  ];
  const input = turn.inputTokens ?? 10;
  const output = turn.outputTokens ?? 20;
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    modelVersion: model,
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: turn.cachedTokens ?? 0,
      candidatesTokenCount: output,
      thoughtsTokenCount: turn.thoughtTokens ?? 0,
      totalTokenCount: input + output,
    },
  };
}

/** @param {Options} options @returns {Promise<StandIn>} */
export async function startGeminiApi(options) {
  /** @type {Seen[]} */
  const requests = [];
  const turns = [...options.turns];

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async function answer(request, response) {
    const body = /** @type {Record<string, unknown>} */ (await readBody(request));
    const path = request.url ?? '/';
    requests.push({ method: request.method ?? '', path, headers: request.headers, body });
    /** @param {number} status @param {unknown} value */
    const json = (status, value) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const key = request.headers['x-goog-api-key'];
    const credential = typeof key === 'string' ? key : (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (options.accepts !== undefined && !options.accepts(credential))
      return json(401, { error: { code: 401, message: 'invalid credentials', status: 'UNAUTHENTICATED' } });
    if (path.includes(':loadCodeAssist'))
      return json(200, { currentTier: { id: 'free-tier', name: 'free' }, cloudaicompanionProject: 'a-project' });
    const isInternal = path.startsWith('/v1internal:');
    const verb = /:([A-Za-z]+)(\?|$)/.exec(path)?.[1] ?? '';
    if (verb === 'countTokens') return json(200, { totalTokens: 10 });
    if (verb !== 'generateContent' && verb !== 'streamGenerateContent') return json(isInternal ? 200 : 404, {});
    const asked = /** @type {Record<string, unknown>} */ (isInternal ? body['request'] : body);
    const model = isInternal ? String(body['model']) : (/models\/([^:]+):/.exec(path)?.[1] ?? '');
    // Side requests (which model, is there a loop) offer no tools.
    const main = Array.isArray(asked?.['tools']) && asked['tools'].length > 0;
    const content = contentOf(main ? (turns.shift() ?? { text: 'Done.' }) : SIDE, model);
    const value = isInternal ? { response: content } : content;
    if (verb === 'generateContent') return json(200, value);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(value)}\r\n\r\n`);
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

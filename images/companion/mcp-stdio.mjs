// Serves an MCP server that is a program (stdio) over HTTP on a unix socket:
//   node mcp-stdio.mjs SOCKET DIRECTORY PROGRAM [ARGUMENT]...
// The first line of the input is JSON: { "env": variables of the program, "token": what each request has to show }. When the input ends, this process ends, and the
// container with it. Each session of the protocol has a process of a separate program.
import { spawn } from 'node:child_process';
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import http from 'node:http';
import process from 'node:process';
import readline from 'node:readline';

/** Of more, the one that was not used for longest is ended: a client need not end its own. */
const MAX_SESSIONS = 8;
/** As src/network/companion/companion-place.ts names it. */
const TOKEN_HEADER = 'x-run-claude-token';
/** Of a message of the agent, and of a line of the program. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** Messages of the program that nobody has fetched. */
const MAX_KEPT = 100;
const MAX_PENDING = 64;

/** @typedef {{ id?: unknown, method?: unknown, [name: string]: unknown }} Message */

/** One process of the program. */
class Session {
  /** @param {string} directory @param {readonly string[]} argv @param {Record<string, string>} env
   * @param {(session: Session) => void} ended */
  constructor(directory, argv, env, ended) {
    this.id = randomUUID();
    /** Answers that are waited for, by the request's id. @type {Map<string, (message: Message) => void>} */
    this.pending = new Map();
    /** @type {Message[]} */
    this.kept = [];
    /** @type {http.ServerResponse | undefined} */
    this.stream = undefined;
    const [program = '', ...args] = argv;
    this.child = spawn(program, args, { cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.child.stdin.on('error', () => undefined);
    /** @type {string[]} */
    let line = [];
    let length = 0;
    this.child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      const [first = '', ...others] = text.split('\n');
      line.push(first);
      length += first.length;
      for (const next of others) {
        this.take(line.join(''));
        line = [next];
        length = next.length;
      }
      if (length > MAX_MESSAGE) this.end();
    });
    const over = () => {
      for (const [key, answer] of this.pending) answer(failure(JSON.parse(key), 'the MCP server has ended'));
      this.pending.clear();
      this.stream?.end();
      ended(this);
    };
    this.child.once('error', over).once('exit', over);
  }

  /** @param {string} line */
  take(line) {
    /** @type {Message} */
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      // Not a message: some programs print text.
      return;
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) return;
    const key = JSON.stringify(message.id ?? null);
    const answer = message.method === undefined ? this.pending.get(key) : undefined;
    if (answer !== undefined) {
      this.pending.delete(key);
      answer(message);
    } else if (message.method !== undefined) {
      if (this.stream !== undefined) this.stream.write(event(message));
      else if (this.kept.length < MAX_KEPT) this.kept.push(message);
    }
  }

  /** @param {Message} message */
  send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** @param {Message} message @param {http.ServerResponse} response whose end gives the request up
   * @returns {Promise<Message>} */
  ask(message, response) {
    const key = JSON.stringify(message.id);
    if (this.pending.has(key) || this.pending.size >= MAX_PENDING)
      return Promise.resolve(failure(message.id, 'this request is not possible now'));
    return new Promise((answer) => {
      this.pending.set(key, answer);
      response.once('close', () => {
        if (this.pending.get(key) === answer) this.pending.delete(key);
      });
      this.send(message);
    });
  }

  end() {
    this.child.kill('SIGKILL');
  }
}

/** @param {unknown} id @param {string} message @returns {Message} */
const failure = (id, message) => ({ jsonrpc: '2.0', id, error: { code: -32000, message } });

/** @param {Message} message */
const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

/** @param {http.IncomingMessage} request @returns {Promise<Message | undefined>} undefined: not one message */
async function messageOf(request) {
  /** @type {Buffer[]} */
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > MAX_MESSAGE) return undefined;
    parts.push(part);
  }
  try {
    const value = JSON.parse(Buffer.concat(parts).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest();

/** @param {string} directory @param {readonly string[]} argv @param {Record<string, string>} env
 * @param {string} token */
function createBridge(directory, argv, env, token) {
  /** The one that was used last is the last. @type {Map<string, Session>} */
  const sessions = new Map();
  const wanted = digest(token);
  /** @param {http.IncomingMessage} request */
  const isMeant = (request) => timingSafeEqual(digest(String(request.headers[TOKEN_HEADER])), wanted);

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async function serve(request, response) {
    /** @param {number} status @param {Message} [message] @param {Record<string, string>} [headers] */
    const reply = (status, message, headers = {}) => {
      const body = message === undefined ? '' : JSON.stringify(message);
      response
        .writeHead(status, { ...(body === '' ? {} : { 'content-type': 'application/json' }), ...headers })
        .end(body);
    };
    if (!isMeant(request)) return reply(403);
    const named = sessions.get(String(request.headers['mcp-session-id']));
    if (named !== undefined && sessions.delete(named.id)) sessions.set(named.id, named);
    if (request.method === 'DELETE') {
      named?.end();
      return reply(named === undefined ? 404 : 200);
    }
    if (request.method === 'GET') {
      if (named === undefined) return reply(404);
      named.stream?.end();
      named.stream = response;
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      response.flushHeaders();
      for (const message of named.kept.splice(0)) response.write(event(message));
      response.once('close', () => {
        if (named.stream === response) named.stream = undefined;
      });
      return;
    }
    if (request.method !== 'POST') return reply(405);
    const message = await messageOf(request);
    if (message === undefined) return reply(400);
    const isFirst = message.method === 'initialize' && request.headers['mcp-session-id'] === undefined;
    const [oldest] = sessions.values();
    if (isFirst && sessions.size >= MAX_SESSIONS && oldest !== undefined) {
      sessions.delete(oldest.id);
      oldest.end();
    }
    const session = isFirst ? new Session(directory, argv, env, ({ id }) => void sessions.delete(id)) : named;
    if (session === undefined) return reply(404);
    if (isFirst) sessions.set(session.id, session);
    if (message.id === undefined || message.method === undefined) {
      session.send(message);
      return reply(202);
    }
    const answer = await session.ask(message, response);
    reply(200, answer, isFirst ? { 'mcp-session-id': session.id } : {});
  }

  const server = http.createServer({ requestTimeout: 0 }, (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.maxConnections = 64;
  return server;
}

const [socket = '', directory = '/', ...argv] = process.argv.slice(2);
const lines = readline.createInterface({ input: process.stdin });
lines.once('line', (line) => {
  const { env, token } = JSON.parse(line);
  if (typeof token !== 'string' || token === '') throw new Error('the input has no token');
  rmSync(socket, { force: true });
  createBridge(directory, argv, { ...process.env, ...env }, token).listen(socket);
});
// run-claude has ended.
lines.once('close', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));

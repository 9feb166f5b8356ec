import { mkdtemp } from 'node:fs/promises';
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { jsonIn } from '../../../core/text/json-in.ts';
import { limitAnswers, limitedText } from './answer-limit.ts';
import type { Endpoint } from './endpoint.ts';
import { dropEndedConnections, isUnanswered } from './kept-connections.ts';
import { SshAgent } from './ssh.ts';
import type { MakeDir } from './ssh-login.ts';

/** The connection to one engine. Plain requests need nothing else; dockerode is loaded on first use, because that is slow. */
export interface Client {
  /** GET with an answer in JSON. Rejects with Node's error, or with one that has statusCode. */
  get(path: string, timeoutMs: number): Promise<unknown>;
  /** Sends a request without waiting for the answer: gc repeats what failed. Resolves when the request was sent. */
  send(method: 'DELETE', path: string): Promise<void>;
  /** POST of JSON with an answer in JSON. Rejects as get() does. */
  post(path: string, body: object): Promise<unknown>;
  /** POST with an upgrade, and with JSON where `body` is given: returns the connection. Rejects as get() does. */
  upgrade(path: string, body?: object): Promise<Duplex>;
  docker(): Promise<Docker>;
  close(): Promise<void>;
}

/** How many idle connections may turn out to have ended before a request is given up. */
const MAX_IDLE_LOST = 5;

const makeTempDir: MakeDir = (folder, prefix) => mkdtemp(path.join(folder, prefix));

/** Opens no connection by itself. `makeDir` makes the directory of the shared ssh login. */
export function openClient(endpoint: Endpoint, makeDir = makeTempDir): Client {
  const agent = agentOf(endpoint, makeDir);
  let loaded: Promise<Docker> | undefined;
  return {
    get: (path, timeoutMs) => getJson(endpoint, agent, path, timeoutMs),
    post: (path, body) => postJson(endpoint, agent, path, body),
    upgrade: (path, body) => upgrade(endpoint, agent, path, body),
    send: (method, path) => sendOnly(endpoint, method, path),
    docker: () => {
      loaded ??= loadDocker(endpoint, agent);
      return loaded;
    },
    close: async () => (agent instanceof SshAgent ? agent.close() : agent.destroy()),
  };
}

function agentOf(endpoint: Endpoint, makeDir: MakeDir): HttpAgent {
  // Each of these is a program here and one on the other machine, which nobody ends.
  if (endpoint.kind === 'ssh')
    return dropEndedConnections(new SshAgent(endpoint.destination, endpoint.port, makeDir), Number.POSITIVE_INFINITY);
  if (endpoint.kind === 'tcp' && endpoint.tls) {
    const { ca, cert, key, verify } = endpoint.tls;
    return dropEndedConnections(new HttpsAgent({ ca, cert, key, rejectUnauthorized: verify, keepAlive: true }));
  }
  return dropEndedConnections(new HttpAgent({ keepAlive: true }));
}

function sendOnly(endpoint: Endpoint, method: string, path: string): Promise<void> {
  if (endpoint.kind !== 'unix') throw new TypeError('only what is sent to this machine is surely received');
  return new Promise((resolve) => {
    // A separate connection, which may end with this process.
    const options = { socketPath: endpoint.path, method, path, headers: { Host: 'docker' }, agent: false };
    const request = httpRequest(options, (response) => response.resume());
    request.on('socket', (socket) => socket.unref());
    request.on('error', () => resolve());
    request.end(() => resolve());
  });
}

async function getJson(endpoint: Endpoint, agent: HttpAgent, path: string, timeoutMs: number): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  for (let attempt = 1; ; attempt += 1) {
    const request = openRequest(endpoint, agent, { path, signal });
    request.end();
    try {
      return JSON.parse(await answerTo(request));
    } catch (error) {
      // The other side may have ended an idle connection at the moment of the request.
      if (attempt > MAX_IDLE_LOST || !isUnanswered(request, error) || signal.aborted) throw error;
    }
  }
}

async function postJson(endpoint: Endpoint, agent: HttpAgent, path: string, body: object): Promise<unknown> {
  const sent = Buffer.from(JSON.stringify(body));
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(sent.length) };
  const send = (): ClientRequest => openRequest(endpoint, agent, { path, method: 'POST', headers }).end(sent);
  const first = send();
  const answer = await answerTo(first).catch((error) => {
    if (!isUnanswered(first, error)) throw error;
    return answerTo(send());
  });
  return answer === '' ? undefined : JSON.parse(answer);
}

function answerTo(request: ClientRequest): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    // Reads to the end: a connection that fails during the answer rejects here too.
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      answerOf(response).then(resolve, reject);
    });
  });
}

/**
 * Replaces dockerode's request: its options are sent as a body, which Podman passes to the program inside as the beginning
 * of its input.
 */
async function upgrade(endpoint: Endpoint, agent: HttpAgent, path: string, body?: object): Promise<Duplex> {
  const sent = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const headers = { Connection: 'Upgrade', Upgrade: 'tcp', 'Content-Length': String(sent.length) };
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const request = openRequest(endpoint, agent, { path, method: 'POST', headers: { ...headers, ...type } });
  request.end(sent);
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('upgrade', (_response, socket: Duplex, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on('response', (response: IncomingMessage) => {
      const unexpected = Object.assign(new Error('no upgrade'), { statusCode: response.statusCode });
      answerOf(response).then(() => reject(unexpected), reject);
    });
  });
}

function openRequest(endpoint: Endpoint, agent: HttpAgent, options: RequestOptions): ClientRequest {
  const secure = endpoint.kind === 'tcp' && endpoint.tls !== undefined;
  const target =
    endpoint.kind === 'unix'
      ? { socketPath: endpoint.path }
      : endpoint.kind === 'tcp'
        ? { host: endpoint.host, port: endpoint.port }
        : { host: 'docker' };
  // Node checks a certificate against the Host header, if there is one: over TLS it must name the engine.
  const host = endpoint.kind === 'tcp' ? {} : { Host: 'docker' };
  return (secure ? httpsRequest : httpRequest)({
    ...options,
    ...target,
    agent,
    headers: { ...host, ...options.headers },
  });
}

/** The text of a successful answer. Another answer is thrown, with statusCode and json as docker-modem has them. */
async function answerOf(response: IncomingMessage): Promise<string> {
  const body = await limitedText(response);
  const statusCode = response.statusCode ?? 0;
  if (statusCode >= 300) throw Object.assign(new Error(body.trim()), { statusCode, json: jsonIn(body) });
  return body;
}

async function loadDocker(endpoint: Endpoint, agent: HttpAgent): Promise<Docker> {
  const { default: Dockerode } = await import('dockerode');
  // docker-modem takes missing options from DOCKER_HOST and DOCKER_CERT_PATH, so all are given.
  const nothing = {
    host: undefined,
    socketPath: undefined,
    port: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
  };
  const target =
    endpoint.kind === 'unix'
      ? { socketPath: endpoint.path, protocol: 'http' as const }
      : endpoint.kind === 'ssh'
        ? { host: 'docker', protocol: 'http' as const }
        : { host: endpoint.host, port: endpoint.port, protocol: endpoint.tls ? ('https' as const) : ('http' as const) };
  return limitAnswers(new Dockerode({ ...nothing, ...target, agent } as unknown as Docker.DockerOptions));
}

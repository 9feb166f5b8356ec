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
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import type { Endpoint } from './endpoint.ts';
import { SshAgent } from './ssh.ts';
import type { MakeDir } from './ssh-login.ts';

/** One engine's connection: plain requests at once, dockerode when it is first needed, since loading it takes a while. */
export interface Client {
  /** GET, answered by JSON. Rejects with Node's own error, or one that carries statusCode. */
  get(path: string, timeoutMs: number): Promise<unknown>;
  /** Sends a request whose answer nobody waits for: what is left undone is for gc. Resolves when it is on its way. */
  send(method: 'DELETE', path: string): Promise<void>;
  /** POST with an upgrade: the connection itself, both ways. Rejects as get() does. */
  upgrade(path: string): Promise<Duplex>;
  docker(): Promise<Docker>;
  close(): Promise<void>;
}

const makeTempDir: MakeDir = (folder, prefix) => mkdtemp(path.join(folder, prefix));

/** Opens no connection by itself. `makeDir` is for what connections over ssh share. */
export function openClient(endpoint: Endpoint, makeDir = makeTempDir): Client {
  const agent = agentOf(endpoint, makeDir);
  let loaded: Promise<Docker> | undefined;
  return {
    get: (path, timeoutMs) => getJson(endpoint, agent, path, timeoutMs),
    upgrade: (path) => upgrade(endpoint, agent, path),
    send: (method, path) => sendOnly(endpoint, method, path),
    docker: () => {
      loaded ??= loadDocker(endpoint, agent);
      return loaded;
    },
    close: async () => (agent instanceof SshAgent ? agent.close() : agent.destroy()),
  };
}

function agentOf(endpoint: Endpoint, makeDir: MakeDir): HttpAgent {
  if (endpoint.kind === 'ssh') return new SshAgent(endpoint.destination, endpoint.port, makeDir);
  if (endpoint.kind === 'tcp' && endpoint.tls) {
    const { ca, cert, key, verify } = endpoint.tls;
    return new HttpsAgent({ ca, cert, key, rejectUnauthorized: verify, keepAlive: true });
  }
  return new HttpAgent({ keepAlive: true });
}

function sendOnly(endpoint: Endpoint, method: string, path: string): Promise<void> {
  if (endpoint.kind !== 'unix') throw new TypeError('only what is sent to this machine is surely received');
  return new Promise((resolve) => {
    // A connection of its own, which the end of this process may cut.
    const options = { socketPath: endpoint.path, method, path, headers: { Host: 'docker' }, agent: false };
    const request = httpRequest(options, (response) => response.resume());
    request.on('socket', (socket) => socket.unref());
    request.on('error', () => resolve());
    request.end(() => resolve());
  });
}

async function getJson(endpoint: Endpoint, agent: HttpAgent, path: string, timeoutMs: number): Promise<unknown> {
  const request = openRequest(endpoint, agent, { path, signal: AbortSignal.timeout(timeoutMs) });
  request.end();
  const said = await new Promise<string>((resolve, reject) => {
    // To the end: a connection that fails in the middle of an answer is told here too.
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      answerOf(response).then(resolve, reject);
    });
  });
  return JSON.parse(said);
}

/**
 * Not dockerode's own: it sends its options as a body, which Podman gives to the program inside as the beginning of its
 * input.
 */
async function upgrade(endpoint: Endpoint, agent: HttpAgent, path: string): Promise<Duplex> {
  const headers = { Connection: 'Upgrade', Upgrade: 'tcp', 'Content-Length': '0' };
  const request = openRequest(endpoint, agent, { path, method: 'POST', headers });
  request.end();
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
  // Node checks a certificate against the Host header where there is one: over TLS it must be the engine's own.
  const host = endpoint.kind === 'tcp' ? {} : { Host: 'docker' };
  return (secure ? httpsRequest : httpRequest)({
    ...options,
    ...target,
    agent,
    headers: { ...host, ...options.headers },
  });
}

/** The text of a good answer; any other is thrown, with statusCode and json as docker-modem has them. */
async function answerOf(response: IncomingMessage): Promise<string> {
  const said = await text(response);
  const statusCode = response.statusCode ?? 0;
  if (statusCode >= 300) throw Object.assign(new Error(said.trim()), { statusCode, json: jsonIn(said) });
  return said;
}

function jsonIn(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}

async function loadDocker(endpoint: Endpoint, agent: HttpAgent): Promise<Docker> {
  const { default: Dockerode } = await import('dockerode');
  // docker-modem fills what is not given from DOCKER_HOST and DOCKER_CERT_PATH: everything is given.
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
  return new Dockerode({ ...nothing, ...target, agent } as unknown as Docker.DockerOptions);
}

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import type { SessionPod } from '../../../src/engines/cluster/pod.ts';
import { type EnforcedPolicy, enforcePolicies } from './network-plugin.ts';
import type { Node, RunningNodePod } from './node.ts';

const TOKEN = 'token-of-the-test';

interface Stored {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

/** What the server does instead of its work. */
export interface Faults {
  /** Answers to a request with this status and message. */
  refuse?: (method: string, url: string) => { readonly status: number; readonly message: string } | undefined;
  /** Waits before each answer. */
  delayMs?: number;
  /** No node takes a pod, for this reason. */
  unschedulable?: string;
  /** How long the network plugin takes to enforce a change; never, with 'none'. */
  policies?: number | 'none';
  /** Cuts connections without an answer. */
  isDown?: boolean;
  /** Changes what a node reports. */
  lie?: (status: Record<string, unknown>) => Record<string, unknown>;
}

/**
 * A stand-in for an API server: pods, claims and network policies of one namespace, and attach over a web socket, in the
 * shapes of the real one, with a network plugin. Pods run on the node. It keeps every object
 * that it was ever sent.
 */
export class ApiServer implements AsyncDisposable {
  readonly kubeconfig: string;
  readonly dir: string;
  /** Every body of a request. */
  readonly received: string[] = [];
  /** Every path and query. */
  readonly asked: string[] = [];
  faults: Faults = {};
  readonly #server: Server;
  readonly #node: Node;
  readonly #objects = new Map<string, Stored>();
  readonly #running = new Map<string, Promise<RunningNodePod>>();
  readonly #clients = new Set<WebSocket>();
  /** Sub-protocols that the server knows. */
  protocols: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

  private constructor(dir: string, server: Server, node: Node) {
    this.dir = dir;
    this.#server = server;
    this.#node = node;
    this.kubeconfig = path.join(dir, 'kubeconfig');
  }

  static async start(node: Node): Promise<ApiServer> {
    const dir = mkdtempSync(path.join(tmpdir(), 'rc-api-'));
    const [key, cert] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync('openssl', [...words, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
    const api = new ApiServer(dir, server, node);
    server.on('request', (request, response) => void api.#answer(request, response));
    const sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => api.protocols.find((one) => offered.has(one)) ?? false,
    });
    server.on('upgrade', (request, socket, head) => {
      api.asked.push(request.url ?? '');
      const [, name = ''] = /\/pods\/([^/]+)\/attach/.exec(request.url ?? '') ?? [];
      const running = api.#running.get(name);
      if (request.headers.authorization !== `Bearer ${TOKEN}` || running === undefined || api.faults.isDown)
        return void socket.destroy();
      sockets.handleUpgrade(request, socket, head, (client) => {
        api.#clients.add(client);
        client.on('close', () => api.#clients.delete(client));
        client.on('error', () => undefined);
        void running.then((pod) => pod.attach(client));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    writeFileSync(
      api.kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': cert } }],
        users: [{ name: 'u', user: { token: TOKEN } }],
        contexts: [{ name: 'test', context: { cluster: 'c', user: 'u', namespace: 'elsewhere' } }],
      }),
    );
    return api;
  }

  /** Objects of a kind that exist now. */
  names(kind: 'Pod' | 'PersistentVolumeClaim' | 'NetworkPolicy'): readonly string[] {
    return [...this.#objects.values()].filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
  }

  /** The phase of a pod. */
  phase(name: string): unknown {
    return this.#pod(name)?.status?.['phase'];
  }

  claimsOf(session: string): readonly string[] {
    return this.names('PersistentVolumeClaim').filter((name) => name.includes(session));
  }

  /** As a node under pressure does. */
  async evict(name: string): Promise<void> {
    const pod = this.#pod(name);
    if (pod === undefined) throw new Error(`no pod ${name}`);
    pod.status = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' };
    await (await this.#running.get(name))?.remove();
  }

  /** Ends all attached streams without a word. */
  cut(): void {
    for (const client of this.#clients) client.terminate();
  }

  #pod(name: string): Stored | undefined {
    return this.#objects.get(`pods/${name}`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (body !== '') this.received.push(body);
    this.asked.push(url);
    if (this.faults.isDown === true) return void request.socket.destroy();
    if (this.faults.delayMs !== undefined) await delay(this.faults.delayMs);
    const send = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const fail = (code: number, message: string): void =>
      send(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code });
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return fail(401, 'Unauthorized');
    const refused = this.faults.refuse?.(method, url);
    if (refused !== undefined) return fail(refused.status, refused.message);
    const match =
      /^\/(?:api\/v1|apis\/networking\.k8s\.io\/v1)\/namespaces\/run-claude\/(\w+)(?:\/([^/?]+))?(\?.*)?$/.exec(url);
    const [, resource = '', name] = match ?? [];
    if (match === null) return fail(404, 'the server could not find the requested resource');
    if (method === 'POST') return this.#create(resource, JSON.parse(body) as Stored, send, fail);
    if (method === 'GET' && name === undefined) {
      const selector = new URLSearchParams(match[3] ?? '').get('labelSelector') ?? '';
      const wanted = selector.split(',').map((one) => one.split('='));
      const items = [...this.#objects].flatMap(([key, one]) =>
        key.startsWith(`${resource}/`) && wanted.every(([label = '', value]) => one.metadata.labels?.[label] === value)
          ? [one]
          : [],
      );
      return send(200, { kind: 'List', items });
    }
    const key = `${resource}/${name}`;
    const found = this.#objects.get(key);
    if (found === undefined) return fail(404, `${resource} "${name}" not found`);
    if (method === 'GET') return send(200, found);
    if (method === 'PATCH') {
      const { metadata } = JSON.parse(body) as Stored;
      found.metadata.annotations = { ...found.metadata.annotations, ...metadata.annotations };
      return send(200, found);
    }
    if (method === 'DELETE') {
      void this.#remove(resource, key, name ?? '');
      return send(200, found);
    }
    fail(405, 'method not allowed');
  }

  #create(
    resource: string,
    object: Stored,
    send: (status: number, value: object) => void,
    fail: (code: number, message: string) => void,
  ): void {
    const key = `${resource}/${object.metadata.name}`;
    if (this.#objects.has(key)) {
      fail(409, `${resource} "${object.metadata.name}" already exists`);
      return;
    }
    const stored: Stored = { ...object, metadata: { ...object.metadata, uid: randomUUID() } };
    this.#objects.set(key, stored);
    if (resource === 'persistentvolumeclaims') mkdirSync(this.#node.claim(object.metadata.name), { mode: 0o755 });
    if (resource === 'pods') this.#start(stored);
    this.#enforce();
    send(201, stored);
  }

  /** As a network plugin does, some time after a change. */
  #enforce(): void {
    const { policies: delayMs = 0 } = this.faults;
    if (delayMs === 'none') return;
    const apply = (): void => {
      const all = [...this.#objects.values()];
      const pods = all.flatMap(({ kind, metadata: { labels = {} }, status }) => {
        const address = status?.['podIP'];
        return kind === 'Pod' && typeof address === 'string' ? [{ address, labels }] : [];
      });
      const policies = all.filter(({ kind }) => kind === 'NetworkPolicy');
      enforcePolicies(this.#node.networkPid, pods, policies as unknown as readonly EnforcedPolicy[]);
    };
    if (delayMs === 0) apply();
    else setTimeout(apply, delayMs);
  }

  #start(stored: Stored): void {
    const { unschedulable } = this.faults;
    stored.status = { phase: 'Pending' };
    if (unschedulable !== undefined) {
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unschedulable };
      stored.status = { phase: 'Pending', conditions: [condition] };
      return;
    }
    stored.spec['nodeName'] = this.#node.name;
    const report = (status: object): void => {
      if (stored.status?.['reason'] === 'Evicted') return;
      stored.status = (this.faults.lie ?? ((one) => one))(status as Record<string, unknown>);
      this.#enforce();
    };
    const running = this.#node.run(stored as unknown as SessionPod, report);
    running.catch((error: Error) => report({ phase: 'Failed', reason: 'Sandbox', message: error.message }));
    this.#running.set(stored.metadata.name, running);
  }

  async #remove(resource: string, key: string, name: string): Promise<void> {
    if (resource === 'pods') await (await this.#running.get(name)?.catch(() => undefined))?.remove();
    if (resource === 'persistentvolumeclaims') rmSync(this.#node.claim(name), { recursive: true, force: true });
    this.#objects.delete(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    for (const key of [...this.#objects.keys()])
      await this.#remove(key.split('/')[0] ?? '', key, key.split('/')[1] ?? '');
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
    rmSync(this.dir, { recursive: true, force: true });
  }
}

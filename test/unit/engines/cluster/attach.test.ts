import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ClusterApi, ClusterObject } from '../../../../src/engines/cluster/api.ts';
import { attachPod } from '../../../../src/engines/cluster/attach.ts';
import { openClusterEngine } from '../../../../src/engines/cluster/cluster-engine.ts';
import type { ClusterAccess } from '../../../../src/engines/cluster/kubeconfig.ts';
import { taskSpec } from '../../../../src/engines/engine/hardening/hardened.ts';

let dir: string;
let server: Server;
let access: ClusterAccess;
let isRunning = true;
/** What the server does with a request to attach. */
let onAttach: (socket: Duplex) => void = () => undefined;
let onClient: ((client: WebSocket) => void) | undefined;

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'rc-attach-'));
  const [key, cert] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: ([first = '']) => first });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => undefined);
    if (onClient === undefined) onAttach(socket);
    else sockets.handleUpgrade(request, socket, head, onClient);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  access = {
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    options: async () => ({ ca: readFileSync(cert) }),
  };
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true });
});

const attach = () => attachPod(access, { namespace: 'test' }, 'pod', 'agent');
const REFUSAL = 'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 1000000000\r\n\r\nno \u001b[31m';

it('a refusal that is cut, and one without an end, are refusals', { timeout: 20_000 }, async () => {
  onAttach = (socket) => socket.end(REFUSAL);
  await expect(attach()).rejects.toThrow(/refused to attach \(403\): no {2}\[31m/);
  let timer: NodeJS.Timeout | undefined;
  onAttach = (socket) => {
    socket.write(REFUSAL);
    timer = setInterval(() => socket.write('.'), 200);
  };
  await expect(attach()).rejects.toThrow(/refused to attach \(403\)/);
  clearInterval(timer);
});

/** An engine whose pods run at once. */
function engineWith(removed: string[]) {
  const pods = new Map<string, object>();
  const state = () => (isRunning ? { running: {} } : { terminated: { exitCode: 137 } });
  const found = (): ClusterObject => ({
    spec: { nodeName: 'node-1' },
    status: { phase: isRunning ? 'Running' : 'Failed', containerStatuses: [{ state: state() }] },
  });
  const api: ClusterApi = {
    server: access.server,
    namespace: 'test',
    get: async (_resource, name) => (pods.has(name) ? found() : undefined),
    list: async () => [],
    create: async (_resource, object) => {
      pods.set(String((object as ClusterObject).metadata?.name), object);
      return object;
    },
    patch: async () => ({}),
    remove: async (_resource, name) => {
      removed.push(name);
      pods.delete(name);
    },
  };
  return openClusterEngine({
    target: { context: 'test' },
    access,
    api,
    form: 'pod',
    owner: 'me',
    image: `registry.test/run-claude@sha256:${'a'.repeat(64)}`,
    storageClass: undefined,
    sizeMb: 1,
    accessMode: 'ReadWriteOnce',
    lacks: [],
    seccomp: '{}',
    patienceSeconds: 60,
    proofSeconds: 1,
    deadlineSeconds: 60,
    tell: () => undefined,
    signal: undefined,
  });
}

const spec = taskSpec({
  sessionId: '261123-101500-abc',
  suffix: 'x',
  image: 'run-claude:1',
  seccomp: '{}',
  user: '0:0',
  capabilities: [],
  argv: ['true'],
  mounts: [],
  stdin: 'stream',
});

/** The gate of a container whose layers are proved. */
const prove = (client: WebSocket): void => client.send(Buffer.from('\u0001proven\n'));

it('SIGKILL ends a pod that reads no input', { timeout: 30_000 }, async () => {
  onClient = (client) =>
    client.once('message', () => {
      prove(client);
      client.pause();
    });
  const removed: string[] = [];
  const container = await engineWith(removed).create(spec);
  await container.start();
  container.stdin?.on('error', () => undefined);
  container.stdin?.write(Buffer.alloc(64 * 1024 * 1024));
  await new Promise((resolve) => setTimeout(resolve, 500));
  await container.kill('SIGKILL');
  expect(removed).toEqual([container.id]);
  container.detach();
});

it('a container that does not prove its layers is refused, and its pod deleted', { timeout: 30_000 }, async () => {
  onClient = (client) => client.resume();
  const removed: string[] = [];
  const container = await engineWith(removed).create(spec);
  await expect(container.start()).rejects.toMatchObject({ code: 'POD_STUCK' });
  expect(removed).toEqual([container.id]);
  container.detach();
});

it('an archive that breaks off fails, and ends the pod', { timeout: 30_000 }, async () => {
  onClient = (client) =>
    client.on('message', (data: Buffer) => {
      const word = data.subarray(1).toString('latin1');
      if (word === 'go\n') prove(client);
      if (word !== 'sKILL\n') return;
      isRunning = false;
      client.close();
    });
  const engine = engineWith([]);
  const container = await engine.create(spec);
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(512);
    throw new Error('the disk failed');
  }
  await expect(engine.putArchive(container.id, '/x', broken())).rejects.toMatchObject({
    code: 'PLACE_FAILED',
    cause: { message: 'the disk failed' },
  });
  await container.remove();
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type ClusterApi, openClusterApi } from '../../../../src/engines/cluster/api.ts';

let dir: string;
let server: Server;
let api: ClusterApi;
let asked = 0;
/** What the server does with the first requests; it answers the others. */
let first: ((response: ServerResponse) => void)[] = [];

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'rc-api-'));
  const [key, cert] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
    const answer = first[asked];
    asked += 1;
    if (answer === undefined) response.end('{"metadata":{"name":"here"}}');
    else answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const access = { server: `https://127.0.0.1:${port}`, options: async () => ({ ca: readFileSync(cert) }) };
  api = openClusterApi(access, 'test');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true });
});

afterEach(() => {
  asked = 0;
  first = [];
  vi.unstubAllEnvs();
});

const busy = (response: ServerResponse): void => void response.writeHead(503).end('{"message":"it starts"}');
const cut = (response: ServerResponse): void => void response.destroy();

it('asks again, after a pause, where the server is busy or a connection breaks', { timeout: 20_000 }, async () => {
  first = [busy, cut];
  const since = Date.now();
  await expect(api.get('pods', 'here')).resolves.toEqual({ metadata: { name: 'here' } });
  expect(asked).toBe(3);
  expect(Date.now() - since).toBeGreaterThan(2000);
});

it('gives the last answer of a server that stays busy, and names one that does not answer', {
  timeout: 20_000,
}, async () => {
  first = [busy, busy, busy];
  await expect(api.get('pods', 'here')).rejects.toThrow('the API server refused (503): it starts');
  asked = 0;
  first = [cut, cut, cut];
  await expect(api.get('pods', 'here')).rejects.toThrow('does not answer');
  expect(asked).toBe(3);
});

it('sends what changes something once', async () => {
  first = [busy];
  await expect(api.create('pods', {})).rejects.toThrow('refused (503)');
  expect(asked).toBe(1);
});

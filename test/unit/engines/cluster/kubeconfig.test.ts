import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { accessOf, openAccess, parseContext } from '../../../../src/engines/cluster/kubeconfig.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-kubeconfig-'));
afterAll(() => rmSync(dir, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const CLUSTER = { server: 'https://lab.test:6443/', 'certificate-authority-data': base64('authority') };

/** As kubectl prints one context. */
const view = (user: object, cluster: object = CLUSTER): string =>
  JSON.stringify({
    kind: 'Config',
    apiVersion: 'v1',
    clusters: [{ name: 'lab', cluster }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'me' } }],
    'current-context': 'lab',
    preferences: {},
    users: [{ name: 'me', user }],
  });
const access = (user: object, cluster?: object) => accessOf(parseContext(view(user, cluster), 'lab'), 'lab');

/** A plugin that counts its runs, and prints what `status` says. */
function plugin(name: string, status: object): { readonly exec: object; readonly runs: () => number } {
  const file = path.join(dir, name);
  const log = `${file}.log`;
  const output = JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status });
  writeFileSync(
    file,
    `#!/bin/sh\nprintf '%s\\n' "$KUBERNETES_EXEC_INFO $1 $FROM_KUBECONFIG" >> '${log}'\necho '${output}'\n`,
  );
  writeFileSync(log, '');
  chmodSync(file, 0o755);
  const env = [{ name: 'FROM_KUBECONFIG', value: 'yes' }];
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: file, args: ['login'], env };
  return { exec, runs: () => readFileSync(log, 'utf8').split('\n').length - 1 };
}

describe('a login', () => {
  it('by token, with the authority of the cluster', async () => {
    const { server, options } = access({ token: 'abc' }, { ...CLUSTER, 'tls-server-name': 'other.test' });
    expect(server).toBe('https://lab.test:6443');
    expect(await options()).toEqual({
      ca: Buffer.from('authority'),
      servername: 'other.test',
      headers: { Authorization: 'Bearer abc' },
    });
  });

  it('by a file, which is read for each request', async () => {
    const tokenFile = path.join(dir, 'token');
    writeFileSync(tokenFile, 'first\n');
    const { options } = access({ token: 'old', tokenFile });
    expect((await options()).headers).toEqual({ Authorization: 'Bearer first' });
    writeFileSync(tokenFile, 'second\n');
    expect((await options()).headers).toEqual({ Authorization: 'Bearer second' });
  });

  it('by a certificate', async () => {
    const user = { 'client-certificate-data': base64('certificate'), 'client-key-data': base64('key') };
    expect(await access(user).options()).toMatchObject({ cert: Buffer.from('certificate'), key: Buffer.from('key') });
  });

  it('by a plugin, which runs again when its credential expires', async () => {
    const lasting = plugin('lasting', {
      token: 'a',
      expirationTimestamp: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const short = plugin('short', { token: 'b', expirationTimestamp: new Date(Date.now() + 1000).toISOString() });
    const endless = plugin('endless', { clientCertificateData: 'PEM', clientKeyData: 'KEY' });
    const [one, two, three] = [lasting, short, endless].map(({ exec }) => access({ exec }));
    for (let request = 0; request < 2; request += 1) {
      expect((await one?.options())?.headers).toEqual({ Authorization: 'Bearer a' });
      expect((await two?.options())?.headers).toEqual({ Authorization: 'Bearer b' });
      expect(await three?.options()).toMatchObject({ cert: 'PEM', key: 'KEY' });
    }
    expect([lasting.runs(), short.runs(), endless.runs()]).toEqual([1, 2, 1]);
  });

  it('tells a plugin the cluster only where the kubeconfig asks for it', async () => {
    const { exec } = plugin('told', { token: 'a' });
    await access({ exec }).options();
    await access({ exec: { ...exec, provideClusterInfo: true } }).options();
    const [without = '', told = ''] = readFileSync(path.join(dir, 'told.log'), 'utf8').split('\n');
    expect(without).toMatch(/^\{"kind":"ExecCredential".*"spec":\{"interactive":false\}\} login yes$/);
    expect(told).toContain('"cluster":{"server":"https://lab.test:6443/","certificate-authority-data"');
  });

  it.each([
    [{ command: 'plugins/login' }, 'is relative'],
    [{ command: 'no-such-plugin-here' }, 'does not start. Install no-such-plugin-here'],
    [{ command: 'false' }, 'the plugin false failed'],
    [{ command: 'echo', args: ['{"kind":"Secret"}'] }, 'the plugin echo printed no ExecCredential'],
  ])('by a plugin that cannot be used: %j', async (exec, message) => {
    const login = access({ exec: { apiVersion: 'client.authentication.k8s.io/v1', ...exec } });
    await expect(login.options()).rejects.toMatchObject({ code: 'CLUSTER_LOGIN' });
    await expect(login.options()).rejects.toThrow(message);
  });
});

describe('refuses', () => {
  it.each([
    [{ token: 'a' }, { server: 'http://127.0.0.1:8080' }, 'has no server with https'],
    [{ token: 'a' }, { ...CLUSTER, 'insecure-skip-tls-verify': true }, "does not check the server's certificate"],
    [{ token: 'a' }, { ...CLUSTER, 'proxy-url': 'http://proxy.test' }, 'has a proxy-url'],
    [{ username: 'me', password: 'x' }, CLUSTER, 'username and password is not supported'],
    [{ 'auth-provider': { name: 'gcp' } }, CLUSTER, 'auth-provider is not supported'],
    [{ token: 'a', as: 'admin' }, CLUSTER, 'acting as another user (as) is not supported'],
  ])('%j, %j', (user, cluster, message) => {
    expect(() => access(user, cluster)).toThrow(message);
  });

  it('a machine without kubectl, with what to do', async () => {
    vi.stubEnv('PATH', dir);
    await expect(openAccess({ context: 'lab' })).rejects.toMatchObject({
      message: 'kubectl, which reads the kubeconfig, does not start',
      hint: 'Install kubectl.',
    });
    vi.unstubAllEnvs();
  });
});

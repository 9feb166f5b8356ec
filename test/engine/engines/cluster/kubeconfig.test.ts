import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openAccess } from '../../../../src/engines/cluster/kubeconfig.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-kubectl-'));
afterAll(() => rmSync(dir, { recursive: true }));

beforeEach(() => {
  mkdirSync(path.join(dir, 'certificates'), { recursive: true });
  writeFileSync(path.join(dir, 'certificates/ca.pem'), 'authority');
  writeFileSync(
    path.join(dir, 'one'),
    [
      'apiVersion: v1',
      'kind: Config',
      'clusters: [{name: c, cluster: {server: "https://one.test", certificate-authority: certificates/ca.pem}}]',
      'users: [{name: u, user: {token: of-one}}]',
      'contexts: [{name: arn:aws:eks/one, context: {cluster: c, user: u}}]',
    ].join('\n'),
  );
  writeFileSync(
    path.join(dir, 'two'),
    'apiVersion: v1\nkind: Config\ncontexts: [{name: two, context: {cluster: c, user: of-two}}]\nusers: [{name: of-two, user: {token: of-two}}]\n',
  );
  vi.stubEnv('HOME', dir);
  vi.stubEnv('KUBECONFIG', `${dir}/one:${dir}/two`);
});
afterEach(() => vi.unstubAllEnvs());

it('reads several files as kubectl does, and certificates by paths relative to their file', async () => {
  const one = await openAccess({ context: 'arn:aws:eks/one' });
  const two = await openAccess({ context: 'two' });
  expect([one.server, two.server]).toEqual(['https://one.test', 'https://one.test']);
  expect(await one.options()).toEqual({ ca: Buffer.from('authority'), headers: { Authorization: 'Bearer of-one' } });
  expect(await two.options()).toMatchObject({ headers: { Authorization: 'Bearer of-two' } });
});

it('names the contexts where the named one is not there', async () => {
  await expect(openAccess({ context: 'lab' })).rejects.toMatchObject({
    message: 'the kubeconfig has no context lab',
    hint: 'Contexts: arn:aws:eks/one, two. KUBECONFIG names another file.',
  });
});

it('says that there is no kubeconfig, and that one cannot be read', async () => {
  vi.stubEnv('KUBECONFIG', '');
  await expect(openAccess({ context: 'lab' })).rejects.toThrow('there is no kubeconfig with a context');
  vi.stubEnv('KUBECONFIG', `${dir}/one`);
  writeFileSync(path.join(dir, 'one'), 'clusters: {');
  await expect(openAccess({ context: 'lab' })).rejects.toThrow('the kubeconfig cannot be read');
});

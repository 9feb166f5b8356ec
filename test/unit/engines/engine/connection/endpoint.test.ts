import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpointName, findCandidates, parseEndpoint } from '../../../../../src/engines/engine/connection/endpoint.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rc-endpoint-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const names = (env: Record<string, string>, choice: 'auto' | 'docker' | 'podman' = 'auto'): readonly string[] =>
  findCandidates({ choice, env, home }).map(({ endpoint, from }) => `${endpointName(endpoint)} ${from}`);

function context(name: string, host: string): void {
  const id = createHash('sha256').update(name).digest('hex');
  const meta = join(home, '.docker/contexts/meta', id);
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }));
}

describe('where run-claude searches for an engine', () => {
  it('is the default sockets, docker before podman, and only those of a chosen engine', () => {
    const all = names({ XDG_RUNTIME_DIR: '/run/user/7' });
    expect(all[0]).toBe('unix:///var/run/docker.sock default');
    expect(all).toContain(`unix://${home}/.orbstack/run/docker.sock default`);
    expect(all).toContain('unix:///run/user/7/docker.sock default');
    expect(all).toContain('unix:///run/user/7/podman/podman.sock default');
    expect(names({}, 'podman').join()).not.toContain('docker.sock');
    expect(names({}, 'docker').join()).not.toContain('podman');
  });

  it('is only DOCKER_HOST when that is set', () => {
    expect(names({ DOCKER_HOST: 'tcp://10.0.0.1:2375', DOCKER_CONTEXT: 'x' })).toEqual([
      'tcp://10.0.0.1:2375 DOCKER_HOST',
    ]);
    expect(names({ CONTAINER_HOST: 'unix:///p.sock' })).toEqual(['unix:///p.sock CONTAINER_HOST']);
  });

  it('is the docker context, of the environment or of config.json', () => {
    context('orbstack', `unix://${home}/.orbstack/run/docker.sock`);
    context('far', 'ssh://me@far.example.org:2222');
    writeFileSync(join(home, '.docker/config.json'), '{"currentContext":"orbstack"}');
    expect(names({})).toEqual([`unix://${home}/.orbstack/run/docker.sock docker context "orbstack"`]);
    expect(names({ DOCKER_CONTEXT: 'far' })).toEqual(['ssh://me@far.example.org:2222 docker context "far"']);
    expect(names({ DOCKER_CONTEXT: 'default' })[0]).toBe('unix:///var/run/docker.sock default');
  });

  it('uses TLS files with a verified tcp host', () => {
    writeFileSync(join(home, 'ca.pem'), 'CA');
    const env = { DOCKER_HOST: 'tcp://h:2376', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: home };
    const [candidate] = findCandidates({ choice: 'auto', env, home });
    expect(candidate?.endpoint).toMatchObject({ host: 'h', port: 2376, tls: { ca: Buffer.from('CA'), verify: true } });
  });

  it.each(['npipe:////./pipe/docker_engine', 'nonsense', 'ssh://-oProxyCommand=x', 'ftp://h'])('refuses %s', (host) => {
    expect(() => parseEndpoint(host, 'DOCKER_HOST', undefined)).toThrow(
      expect.objectContaining({ code: 'ENGINE_ENDPOINT' }),
    );
  });

  it('refuses a context that does not exist', () => {
    expect(() => names({ DOCKER_CONTEXT: 'gone' })).toThrow('docker context "gone" does not exist');
  });
});

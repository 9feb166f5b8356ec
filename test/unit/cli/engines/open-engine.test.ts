import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEngine, openEngineOf } from '../../../../src/cli/engines/open-engine.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';

let dir: string;
let servers: Server[];
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'rc-open-engine-'));
  mkdirSync(path.join(dir, 'config'));
  servers = [];
});
afterEach(() => {
  for (const server of servers) server.close();
  rmSync(dir, { recursive: true });
});

/** What says who an engine is, behind a socket. Returns the address. */
async function engineAt(name: string, info: object): Promise<string> {
  const socket = path.join(dir, name);
  const server = createServer((request, response) => {
    const version = { Version: '20.10.24', ApiVersion: '1.41', Arch: 'amd64' };
    response.end(JSON.stringify(request.url?.endsWith('/version') ? version : info));
  }).listen(socket);
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `unix://${socket}`;
}

function contextWith(env: Record<string, string>, config = '') {
  writeFileSync(path.join(dir, 'config/config.toml'), config);
  const at = (name: string): string => path.join(dir, name);
  const places = {
    home: dir,
    configDir: at('config'),
    stateDir: at('state'),
    cacheDir: at('cache'),
    dataDir: at('data'),
  };
  return { env, places };
}

function planOn(engine: { endpoint: string; id?: string; on?: string; dataRoot?: string }) {
  return { engine: { dataRoot: '/data', ...engine }, policy: { engine: 'auto' } } as unknown as Pick<
    Plan,
    'engine' | 'policy'
  >;
}

it('connects the engine of a name, and the default one by its word', async () => {
  const big = await engineAt('big', { ID: 'BIG' });
  const usual = await engineAt('usual', { ID: 'USUAL' });
  const context = contextWith({ DOCKER_HOST: usual }, `[engine.big]\nhost = "${big}"\n`);
  const named = await openEngine({ engine: 'auto', on: 'big' }, context);
  expect(named.facts).toMatchObject({ on: 'big', endpoint: big, id: 'BIG' });
  const byWord = await openEngine({ engine: 'auto', on: 'default' }, context);
  expect(byWord.facts).toMatchObject({ endpoint: usual });
  expect(byWord.facts.on).toBeUndefined();
  await Promise.all([named.close(), byWord.close()]);
});

it('refuses a name that the configuration does not have, with the nearest one', async () => {
  const context = contextWith({}, '[engine.big]\nhost = "ssh://h"\n');
  await expect(openEngine({ engine: 'auto', on: 'bog' }, context)).rejects.toMatchObject({
    code: 'USAGE',
    message: "there is no engine 'bog'",
    hint: 'Did you mean big?',
  });
});

it('reports an engine of a name that does not answer by its table', async () => {
  const context = contextWith({}, `[engine.big]\nhost = "unix://${dir}/none"\n`);
  await expect(openEngine({ engine: 'auto', on: 'big' }, context)).rejects.toMatchObject({
    code: 'ENGINE_UNREACHABLE',
    message: `no container engine answers. Looked at:\n  unix://${dir}/none ([engine.big]): not there`,
    hint: '[engine.big] names it: start that engine, or name another one.',
  });
});

it('an engine that takes connections and answers none is given up in time', async () => {
  const silent = createServer(() => undefined).listen(path.join(dir, 'silent'));
  servers.push(silent);
  const context = contextWith({}, `[engine.big]\nhost = "unix://${dir}/silent"\n`);
  await expect(openEngine({ engine: 'auto', on: 'big' }, context, 200)).rejects.toThrow('no answer');
  silent.closeAllConnections();
});

it('finds the engine of a session by its record, wherever the environment points now', async () => {
  const first = await engineAt('first', { ID: 'A', DockerRootDir: '/data' });
  const other = await engineAt('other', { ID: 'B', DockerRootDir: '/data' });
  const found = await openEngineOf(planOn({ endpoint: first, id: 'A' }), contextWith({ DOCKER_HOST: other }));
  expect(found.facts.endpoint).toBe(first);
  await found.close();
});

it('takes the default engine where it is the same one at another address', async () => {
  const now = await engineAt('now', { ID: 'A', DockerRootDir: '/data' });
  const record = planOn({ endpoint: `unix://${dir}/earlier`, id: 'A' });
  const found = await openEngineOf(record, contextWith({ DOCKER_HOST: now }));
  expect(found.facts.endpoint).toBe(now);
  await found.close();
});

it('refuses the default engine where it is another one and that of the session does not answer', async () => {
  const other = await engineAt('other', { ID: 'B', DockerRootDir: '/data' });
  const record = planOn({ endpoint: `unix://${dir}/gone`, id: 'A' });
  await expect(openEngineOf(record, contextWith({ DOCKER_HOST: other }))).rejects.toMatchObject({
    code: 'ENGINE_UNREACHABLE',
    message: expect.stringContaining(`unix://${dir}/gone (the record of the session): not there`),
  });
});

it('takes the default engine for a record of an earlier release whose address does not answer', async () => {
  const now = await engineAt('now', { ID: 'B' });
  const found = await openEngineOf(planOn({ endpoint: `unix://${dir}/gone` }), contextWith({ DOCKER_HOST: now }));
  expect(found.facts.endpoint).toBe(now);
  await found.close();
});

it('never connects without TLS to an engine that a session reached over tcp', async () => {
  const other = await engineAt('other', { ID: 'B' });
  const record = planOn({ endpoint: 'tcp://127.0.0.1:9', id: 'A' });
  await expect(openEngineOf(record, contextWith({ DOCKER_HOST: other }))).rejects.toMatchObject({
    code: 'ENGINE_UNREACHABLE',
    hint: 'Set DOCKER_HOST=tcp://127.0.0.1:9 and its certificates as at the start of the session, then try again.',
  });
});

it('refuses a name that is another engine now', async () => {
  const now = await engineAt('now', { ID: 'B', DockerRootDir: '/data' });
  const context = contextWith({}, `[engine.big]\nhost = "${now}"\n`);
  await expect(openEngineOf(planOn({ endpoint: 'ssh://then', id: 'A', on: 'big' }), context)).rejects.toMatchObject({
    code: 'ENGINE_CHANGED',
    message: `the session is on engine big at ssh://then, and [engine.big] of config.toml is now ${now}`,
  });
});

it('waits once for a default engine that does not answer', async () => {
  let requests = 0;
  const silent = createServer(() => {
    requests += 1;
  }).listen(path.join(dir, 'silent'));
  servers.push(silent);
  await new Promise((resolve) => silent.once('listening', resolve));
  const host = `unix://${dir}/silent`;
  const opened = openEngineOf(planOn({ endpoint: host, id: 'A' }), contextWith({ DOCKER_HOST: host }), {
    answerMs: 200,
  });
  await expect(opened).rejects.toThrow('no answer');
  expect(requests).toBe(2);
  silent.closeAllConnections();
});

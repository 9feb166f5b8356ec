import { expect, it } from 'vitest';
import type { Service } from '../../../../src/core/types/policy.ts';
import type { Environment } from '../../../../src/core/types/setup/environment.ts';
import type { ProjectRequest } from '../../../../src/core/types/setup/request.ts';
import {
  decideRequest,
  describeRequest,
  requestDigest,
  requestRefused,
  withRequest,
} from '../../../../src/session/plan/requests.ts';

const asks = (more: Partial<Environment> = {}): ProjectRequest => ({
  environment: { packages: ['ruby'], setup: 'npm ci', env: { A: '1' }, files: ['f'], ...more },
});

it('gives each different request another digest, and equal ones the same', () => {
  const first = requestDigest(asks());
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(requestDigest(asks({ env: { ...asks().environment.env } }))).toBe(first);
  expect(requestDigest(asks({ env: { A: '1', B: '2' } }))).toBe(requestDigest(asks({ env: { B: '2', A: '1' } })));
  const others = [
    asks({ packages: ['ruby', 'x'] }),
    asks({ packages: ['rub', 'y'] }),
    asks({ setup: 'npm ci ' }),
    asks({ setup: undefined }),
    asks({ env: { A: '2' } }),
    asks({ env: { A1: '' } }),
    asks({ files: ['g'] }),
    asks({ files: [] }),
    { ...asks(), image: 'x' },
    { ...asks(), ports: [3000] },
    { ...asks(), ports: [3000, 8080] },
    { ...asks(), image: 'x', ports: [3000] },
  ].map(requestDigest);
  expect(new Set([first, ...others]).size).toBe(13);
  expect(requestDigest({ ...asks(), ports: [] })).toBe(first);
});

it('gives another digest for other content of a file that the setup reads, and keeps that of a request without files', () => {
  const of = (contents?: Record<string, string>): string => requestDigest({ ...asks(), contents });
  expect(of({ a: '1', b: '2' })).toBe(of({ b: '2', a: '1' }));
  expect(new Set([of(), of({ a: '1' }), of({ a: '2' }), of({ b: '1' }), of({ a: '1', b: '2' })]).size).toBe(5);
  expect(of({})).toBe(of());
});

it('takes nothing that nobody agreed to', () => {
  const request = asks();
  const digest = requestDigest(request);
  const decide = (facts: Partial<Parameters<typeof decideRequest>[0]>) =>
    decideRequest({ request, pinned: [], policy: { approved: [], yes: false }, canAsk: false, ...facts });
  expect(decide({ request: undefined })).toBe('nothing');
  expect(decide({})).toBe('refuse');
  expect(decide({ canAsk: true })).toBe('ask');
  expect(decide({ canAsk: true, policy: { yes: true } })).toBe('refuse');
  expect(decide({ pinned: [digest] })).toBe('approved');
  expect(decide({ policy: { approved: [digest], yes: true } })).toBe('approved');
  expect(decide({ pinned: [digest.slice(1)], policy: { approved: [digest.slice(0, 31), ''], yes: true } })).toBe(
    'refuse',
  );
  expect(decide({ pinned: [requestDigest(asks({ setup: 'npm i' }))], canAsk: true })).toBe('ask');
});

it('shows every part of a request, a line of the setup each', () => {
  const lines = describeRequest(asks({ setup: 'one\ntwo\n', packages: ['a', 'b'] }));
  expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual([
    'package a',
    'package b',
    'variable A=1',
    'file for setup f',
    'setup one',
    'setup two',
  ]);
  expect(describeRequest({ ...asks(), image: 'theirs:1' }).slice(0, 2)).toEqual([
    'image           theirs:1',
    expect.stringContaining('run as root'),
  ]);
  expect(describeRequest({ ...asks(), ports: [3000] })[0]).toBe(
    'port            3000: the agent shows a page in your browser',
  );
});

it('says that programs of an image run as root in its build', () => {
  expect(describeRequest({ ...asks(), image: 'x' }).join('\n')).toContain('run as root');
  expect(describeRequest(asks()).join('\n')).not.toContain('root');
});

it("adds the request to the user's own environment, and names the way to agree", () => {
  const own = asks({ packages: ['mine'], setup: undefined, files: [] }).environment;
  const policy = { image: undefined, toolchain: false };
  expect(withRequest({ ...policy, environment: own }, asks()).environment).toEqual({
    packages: ['mine', 'ruby'],
    setup: 'npm ci',
    env: { A: '1' },
    files: ['f'],
  });
  expect(withRequest({ ...policy, environment: undefined }, asks()).environment).toEqual(asks().environment);
  const mine = { ...own, env: { npm_config_registry: 'mine' } };
  const theirs = asks({ env: { npm_config_registry: 'theirs', B: '2' } });
  expect(withRequest({ ...policy, environment: mine }, theirs).environment?.env).toEqual({
    npm_config_registry: 'mine',
    B: '2',
  });
  const open = { ...policy, environment: undefined, ports: ['3000:8080', '5000'] };
  expect(withRequest(open, { ...asks(), ports: [3000, 4000] }).ports).toEqual(['3000:8080', '5000', '4000']);
  const image = { ...asks(), image: 'theirs:1' };
  expect(withRequest({ ...policy, environment: undefined }, image).image).toBe('theirs:1');
  expect(withRequest({ ...policy, environment: undefined, image: 'mine:1' }, image).image).toBe('mine:1');
  expect(() => withRequest({ ...policy, environment: undefined, toolchain: true }, image)).toThrow('--toolchain');
  const program = { name: 'box', command: ['x'], env: {}, secrets: { TOKEN: ['y'] }, hosts: [] };
  const served = { ...policy, environment: undefined, mcpPrograms: [program] };
  expect(() => withRequest(served, image)).toThrow('box would run with its secrets');
  expect(withRequest({ ...served, image: 'mine:1' }, image).image).toBe('mine:1');
  expect(withRequest({ ...served, mcpPrograms: [{ ...program, secrets: {} }] }, image).image).toBe('theirs:1');
  expect(withRequest(served, asks()).image).toBeUndefined();
  const { status, hint } = requestRefused(asks());
  expect(status).toBe(2);
  expect(hint).toContain(`--approve ${requestDigest(asks())}`);
});

const service: Service = {
  name: 'db',
  packages: ['postgresql'],
  command: ['/bin/bash', '-c', 'one\ntwo'],
  port: 5432,
  env: { A: '1', B: '2' },
  readyMs: 30_000,
  data: '/data',
  files: [],
  reaches: [],
  memoryMb: 512,
  diskMb: 1024,
};

it('covers every value of a service with the digest', () => {
  const others: Partial<Service>[] = [
    {},
    { name: 'db2' },
    { packages: ['mariadb-server'] },
    { image: 'x' },
    { command: ['/bin/bash', '-c', 'one\nthree'] },
    { port: 5433 },
    { env: { A: '1', B: '3' } },
    { ready: 'true' },
    { readyMs: 1 },
    { data: '/srv' },
    { seed: 's' },
    { files: ['f'] },
    { reaches: ['x'] },
    { memoryMb: 1 },
    { diskMb: 1 },
  ];
  const digests = others.map((more) => requestDigest({ ...asks(), services: [{ ...service, ...more }] }));
  expect(new Set([requestDigest(asks()), ...digests]).size).toBe(16);
  const env = { B: '2', A: '1' };
  expect(requestDigest({ ...asks(), services: [{ ...service, env }] })).toBe(digests[0]);
  expect(requestDigest({ ...asks(), services: [] })).toBe(requestDigest(asks()));
});

it('shows every value of a service', () => {
  const all = { ...service, ready: 'is-ready', seed: 'fill', files: ['a.sql'], reaches: ['cache'] };
  const lines = describeRequest({ ...asks(), services: [all, { ...service, name: 'x', image: 'evil', packages: [] }] });
  const shown = lines.map((line) => line.trim().replace(/ +/g, ' ')).join('\n');
  for (const part of [
    'service db, at port 5432; its data in /data; 512m memory, 1g disk, ready within 30s',
    'package postgresql',
    'variable A=1',
    'reaches cache',
    'file for seed a.sql',
    'command one\ncommand two',
    'ready is-ready',
    'seed fill',
    'image evil\nits own programs run as root while run-claude builds on it',
  ])
    expect(shown).toContain(part);
});

it("adds a project's services to the user's, whose own count", () => {
  const policy = { image: undefined, toolchain: false, services: [{ ...service, port: 1 }] };
  const request = { ...asks(), services: [service, { ...service, name: 'other', port: 2, reaches: ['db'] }] };
  expect(withRequest(policy, request).services?.map(({ name, port }) => `${name}:${port}`)).toEqual([
    'db:1',
    'other:2',
  ]);
  const taken = { ...asks(), services: [{ ...service, name: 'other', port: 1 }] };
  expect(() => withRequest(policy, taken)).toThrow(/two services have the port 1/);
});

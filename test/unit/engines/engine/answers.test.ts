import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { connectEngine } from '../../../../src/engines/engine/connect.ts';

// An address may lead to another program than an engine: whatever it answers, the user reads which answer was wrong.

let home: string;
let server: Server;
/** Answers by the end of the path, as JSON. */
let answers: Map<string, unknown>;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'run-claude-answers-'));
  answers = new Map<string, unknown>([
    ['/version', { Version: '28.0', ApiVersion: '1.48', Os: 'linux', Arch: 'amd64', Components: null }],
    ['/info', { ID: 'x', SecurityOptions: ['name=seccomp,profile=default'], NCPU: 2, DiscoveredDevices: null }],
  ]);
  server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const found = [...answers].find(([end]) => path.endsWith(end));
    response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found?.[1] ?? {}));
  }).listen(join(home, 's.sock'));
  await new Promise((resolve) => server.once('listening', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true });
});

const connect = (): Promise<Engine> =>
  connectEngine({
    choice: 'docker',
    env: { DOCKER_HOST: `unix://${home}/s.sock` },
    home,
    platform: 'linux',
    owner: 'owner',
  });

async function withEngine<T>(use: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await connect();
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** Values of every kind. No engine writes one of them for a field with another kind. */
const VALUES: readonly unknown[] = [
  'a text',
  7,
  true,
  [],
  ['a'],
  [7],
  [null],
  [[]],
  {},
  { a: 1 },
  { toString: 1 },
  null,
];

describe('an answer of another shape', () => {
  it('is named with the field that is wrong', async () => {
    answers.set('/info', { SecurityOptions: 'name=seccomp' });
    await expect(connect()).rejects.toMatchObject({
      code: 'ENGINE_ANSWER',
      message: "the container engine's answer to /info is not readable: SecurityOptions is not a list",
    });
    answers.set('/info', []);
    await expect(connect()).rejects.toThrow(
      "the container engine's answer to /info is not readable: it is not an object",
    );
  });

  const fieldsOf: readonly (readonly [end: string, fields: readonly string[]])[] = [
    ['/version', ['', 'Version', 'ApiVersion', 'Os', 'Arch', 'KernelVersion', 'Components', 'Components.0']],
    [
      '/info',
      [
        '',
        'ID',
        'OperatingSystem',
        'KernelVersion',
        'DockerRootDir',
        'CgroupVersion',
        'SecurityOptions',
        'NCPU',
      ].concat(['MemTotal', 'Runtimes', 'DiscoveredDevices', 'DiscoveredDevices.0', 'MemoryLimit']),
    ],
  ];

  it.each(fieldsOf)('of %s is never a bug of run-claude', async (end, fields) => {
    for (const field of fields)
      for (const value of VALUES) {
        answers.set(end, withField(field, value));
        await expectReadable(() => withEngine(async ({ facts }) => facts));
      }
  });

  const requests: readonly (readonly [end: string, fields: readonly string[], (engine: Engine) => Promise<unknown>])[] =
    [
      [
        '/json',
        ['', 'Id', 'Config', 'Config.Env', 'Config.Volumes', 'Config.OnBuild'],
        (one) => one.images.facts('x:1'),
      ],
      ['/json', ['', 'Config', 'Config.Labels'], (one) => one.images.label('x:1', 'run-claude.image')],
      ['/json', ['', 'Id', 'Config', 'Config.Labels', 'State'], (one) => one.running.find('x')],
      ['/volumes/x', ['', 'Name', 'Mountpoint', 'Labels'], (one) => one.findVolume('x')],
      ['/containers/json', ['', '0', '0.Names', '0.Labels', '0.State', '0.Created'], (one) => one.list(undefined)],
      ['/volumes', ['', 'Volumes', 'Volumes.0', 'Volumes.0.CreatedAt'], (one) => one.list('s')],
      ['/networks', ['', '0', '0.Name', '0.Created'], (one) => one.list('s')],
      ['/images/json', ['', '0', '0.RepoTags', '0.Labels'], (one) => one.list(undefined)],
    ];

  it.each(requests)('of %s, field by field, is never a bug of run-claude', async (end, fields, ask) => {
    for (const [other, empty] of [
      ['/containers/json', []],
      ['/volumes', { Volumes: [] }],
      ['/networks', []],
      ['/images/json', []],
    ] as const)
      answers.set(other, empty);
    await withEngine(async (engine) => {
      for (const field of fields)
        for (const value of VALUES) {
          answers.set(end, withField(field, value));
          await expectReadable(() => ask(engine));
        }
    });
  });
});

/** An object, or a list where the first name is a number, with the value at the place `a.0.b`. */
function withField(place: string, value: unknown): unknown {
  if (place === '') return value;
  const [name = '', ...rest] = place.split('.');
  const inner = withField(rest.join('.'), value);
  return name === '0' ? [inner] : { Id: 'x', Name: 'x', [name]: inner };
}

async function expectReadable(run: () => Promise<unknown>): Promise<void> {
  const error = await run().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return;
  expect(error).toBeInstanceOf(RunClaudeError);
  expect((error as RunClaudeError).message).toMatch(/is not readable: |could not look at the image/);
}

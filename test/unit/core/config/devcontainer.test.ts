import { expect, it } from 'vitest';
import { readDevcontainer } from '../../../../src/core/config/devcontainer.ts';

const FILE = '.devcontainer/devcontainer.json';
const read = (text: string, files: readonly string[] = []) =>
  readDevcontainer(text, FILE, (name) => files.includes(name));

it('reads image, command and variables from JSON with comments', () => {
  const text = `{ // comment
    "name": "x", "image": "mcr.example/dev:1", /* more */
    "postCreateCommand": "npm ci",
    "containerEnv": { "CI": "true" },
    "customizations": {},
  }`;
  expect(read(text, ['package.json', 'package-lock.json', '.env'])).toEqual({
    image: 'mcr.example/dev:1',
    environment: { packages: [], setup: 'npm ci', env: { CI: 'true' }, files: ['package-lock.json', 'package.json'] },
    ports: [],
    unsupported: [],
  });
});

it('quotes the words of a list', () => {
  expect(read('{"postCreateCommand": ["echo", "a b", "it\'s"]}').environment.setup).toBe("echo 'a b' 'it'\\''s'");
});

it('names everything that it does not support out', () => {
  const { unsupported, environment } = read(`{
    "remoteUser": "root", "forwardPorts": ["db:5432"], "features": {}, "mounts": [], "runArgs": ["--privileged"],
    "initializeCommand": "id", "postCreateCommand": {"a": "b"},
    "containerEnv": { "A": "\${localEnv:TOKEN}", "LD_PRELOAD": "x", "B": "1" }
  }`);
  expect(environment).toEqual({ packages: [], setup: undefined, env: { B: '1' }, files: [] });
  const words = [
    'remoteUser',
    'forwardPorts db:5432',
    'features',
    'mounts',
    'runArgs',
    'initializeCommand',
    'postCreateCommand',
  ];
  for (const word of [...words, 'containerEnv A', 'containerEnv LD_PRELOAD'])
    expect(unsupported.filter((line) => line.startsWith(`${word}:`))).toHaveLength(1);
});

it('takes the ports of the session itself from forwardPorts, in order and once, and at most 16', () => {
  const { ports, unsupported } = read('{"forwardPorts": [8080, "localhost:3000", 3000, "3001", 0, 65536, 1.5, "x"]}');
  expect(ports).toEqual([3000, 3001, 8080]);
  expect(unsupported.map((line) => line.split(':')[0])).toEqual(
    [0, 65536, 1.5, 'x'].map((one) => `forwardPorts ${one}`),
  );
  const many = read(`{"forwardPorts": [${Array.from({ length: 18 }, (_, index) => 4000 + index).join(',')}]}`);
  expect(many.ports).toHaveLength(16);
  expect(many.unsupported).toHaveLength(2);
});

it('refuses a Dockerfile, with the commands that build it by hand, and text other than JSON', () => {
  const hintOf = (text: string): string => {
    try {
      read(text);
    } catch (error) {
      return (error as { hint: string }).hint;
    }
    throw new Error('not refused');
  };
  expect(hintOf('{"build": {"dockerfile": "Dockerfile", "context": ".."}}')).toBe(
    'Read the Dockerfile, then run these two: docker build -t my-devcontainer -f ./.devcontainer/Dockerfile . && run-claude --image my-devcontainer',
  );
  expect(hintOf('{"dockerFile": "a;b"}')).toContain("-f './.devcontainer/a;b' ./.devcontainer &&");
  for (const names of [
    '"dockerfile": "/etc/x"',
    '"dockerfile": "../../x"',
    '"dockerfile": "x", "context": "/"',
    '"dockerfile": "x", "context": "../.."',
    '"dockerfile": "-x"',
    '"dockerfile": "a\\nb"',
  ])
    expect(hintOf(`{"build": {${names}}}`)).toBe(
      'It names files outside the project. Read it, and build the image by hand.',
    );
  expect(() => read('{')).toThrow('can be read');
  expect(() => read('{"image": 1}')).toThrow('can be read');
});

it('caps what it names and takes, for the user reads it before the request', () => {
  const keys = Array.from({ length: 50 }, (_, index) => `"k${index}${'x'.repeat(300)}": 1`);
  const { unsupported } = read(`{${keys.join(',')}}`);
  expect(unsupported).toHaveLength(21);
  expect(Math.max(...unsupported.map((line) => line.length))).toBe(200);
  expect(unsupported.at(-1)).toBe('30 more keys: not used');
  const variables = Array.from({ length: 101 }, (_, index) => `"V${index}": ""`);
  expect(Object.keys(read(`{"containerEnv": {${variables.join(',')}}}`).environment.env)).toHaveLength(100);
  expect(read(`{"containerEnv": {"A": "${'x'.repeat(1000)}"}}`).environment.env).toEqual({});
});

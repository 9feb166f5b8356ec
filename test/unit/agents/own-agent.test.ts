import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  agentNamed,
  agentOf,
  homeAgent,
  programArgv,
  promptOf,
  resumedProgram,
  withPermissionMode,
} from '../../../src/agents/agents.ts';
import { ownAgent } from '../../../src/agents/own-agent.ts';
import { parseCommandLine, type RunLine } from '../../../src/cli/grammar/parse-command-line.ts';
import type { OwnAgent } from '../../../src/core/types/agent/own-agent.ts';

const TINY: OwnAgent = {
  name: 'tiny',
  title: 'Tiny',
  program: ['tiny', 'run'],
  package: { name: '@scope/tiny@1.2.3', integrity: 'sha512-x', entry: 'bin/tiny.js' },
  copy: ['.tiny/prompts', '.tiny.toml', '.absent'],
  instructions: '.tiny/AGENTS.md',
  print: ['once', '-p'],
  skipPermissions: ['--yes'],
  env: { BASE: '{broker}/v1', KEY: '{placeholder}' },
  provider: { api: 'openai', url: 'https://api.example.org/', key: 'TINY_KEY', placeholder: 'placeholder' },
};
const skip = { permissions: 'skip' } as const;
const line = (words: readonly string[]): RunLine =>
  parseCommandLine(words, (word) => word === 'project', { own: [TINY] }) as RunLine;

it('is named on the command line, and gets the words after --', () => {
  const { program } = line(['--agent', 'tiny', 'project', '--', 'once', 'do it']);
  expect(program).toEqual({ kind: 'own', agent: TINY, args: ['once', 'do it'], print: true });
  expect(programArgv(withPermissionMode(program, skip))).toEqual(['tiny', 'run', '--yes', 'once', 'do it']);
  expect(promptOf(program)).toBe('do it');
  expect(agentOf(program)?.title).toBe('Tiny');
  expect(resumedProgram(program, ['again'], undefined, skip)).toEqual({
    kind: 'own',
    agent: TINY,
    args: ['--yes', 'again'],
    print: false,
  });
  const chosen = line(['--agent=tiny', '--', '--yes']).program;
  expect(withPermissionMode(chosen, skip)).toEqual(chosen);
  expect(() => line(['--agent', 'tiny', '--yess'])).toThrow('unknown option --yess');
  expect(() => line(['--agent', 'tinny'])).toThrow("there is no agent 'tinny'");
});

it('may be the usual agent, and the home of a shell', () => {
  const usual = parseCommandLine([], () => false, { usual: 'tiny', own: [TINY] }) as RunLine;
  expect(usual.program).toMatchObject({ kind: 'own', args: [], print: false });
  const shell = line(['--agent', 'tiny', '--shell']).program;
  expect(shell).toEqual({ kind: 'shell', args: [], agent: TINY });
  expect(homeAgent(shell).title).toBe('Tiny');
  expect(agentNamed('tiny')).toBeUndefined();
});

it('has its package as a layer, and the broker with a placeholder in its variables', async () => {
  const agent = ownAgent(TINY);
  expect(agent.image).toEqual({
    program: 'tiny',
    files: { all: { name: '@scope/tiny', version: '1.2.3', integrity: 'sha512-x' } },
    entry: 'bin/tiny.js',
  });
  expect(agent.broker.variables(undefined, 'http://b', {})).toEqual({ BASE: 'http://b/v1', KEY: 'placeholder' });
  const { find } = await agent.loadCredentials();
  const places = { home: '/nowhere', platform: 'linux' } as const;
  const source = await find({ ...places, env: { TINY_KEY: ' real \n' } });
  expect(source).toMatchObject({
    name: 'TINY_KEY',
    cloud: { url: 'https://api.example.org', api: { kind: 'openai' } },
  });
  expect(await source?.current()).toEqual({ kind: 'api-key', value: 'real' });
  expect(await find({ ...places, env: {} })).toBeUndefined();
  // Another agent's key is not its own.
  const { provider: _, ...free } = TINY;
  const lookUp = (await ownAgent({ ...free, env: {} }).loadCredentials()).find;
  expect(await lookUp({ ...places, env: { ANTHROPIC_API_KEY: 'x', TINY_KEY: 'x' } })).toBeUndefined();
});

it('gets the files and directories that its table names, and the note before the instructions', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-own-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = path.join(root, 'home');
  mkdirSync(path.join(home, '.tiny/prompts'), { recursive: true });
  mkdirSync(path.join(root, 'project'));
  for (const [name, text] of Object.entries({
    '.tiny/prompts/a.md': 'a',
    '.tiny/AGENTS.md': 'Use tabs.\n',
    '.tiny/key': 'REAL-CREDENTIAL',
    '.tiny.toml': 'x = 1',
  }))
    writeFileSync(path.join(home, name), text);
  const { stage } = await ownAgent(TINY).loadHome();
  const { entries } = await stage({
    env: { PATH: process.env['PATH'], HOME: home },
    home,
    ownConfigDir: path.join(root, 'config'),
    dataDir: path.join(root, 'data'),
    projectRoot: path.join(root, 'project'),
    gitCommonDir: undefined,
    permissions: 'skip',
    credentialFile: undefined,
    credential: undefined,
    brokerUrl: undefined,
  });
  const files = new Map(
    entries.flatMap(({ path: at, content }) =>
      content instanceof Uint8Array ? [[at, Buffer.from(content).toString()] as const] : [],
    ),
  );
  expect([...files.keys()]).toEqual(['.gitconfig', '.tiny.toml', '.tiny/AGENTS.md', '.tiny/prompts/a.md']);
  expect(files.get('.tiny/AGENTS.md')).toMatch(
    /^# You are in run-claude's sandbox[\s\S]*`~` does not reach[\s\S]*Use tabs\.\n$/,
  );
  expect(await (await ownAgent(TINY).loadData()).apply({} as never, {} as never, {} as never, {} as never)).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { readConfigFile } from '../../../../../src/core/config/config-file.ts';
import { mergePolicy, type NamedSettings } from '../../../../../src/core/config/merge-policy.ts';
import type { OwnAgent } from '../../../../../src/core/types/agent/own-agent.ts';

const HASH = `sha512-${'A'.repeat(86)}==`;
const WHOLE = `
[agents.tiny]
title = "Tiny"
program = ["tiny", "run"]
package = { name = "@scope/tiny@1.2.3", integrity = "${HASH}", entry = "bin/tiny.js" }
copy = [".tiny/prompts"]
instructions = ".tiny/AGENTS.md"
print = ["once"]
skip-permissions = ["--yes"]
env = { BASE = "{broker}/v1", KEY = "{placeholder}" }
provider = { api = "openai", url = "https://api.example.org", key = "TINY_KEY" }
`;
const TINY: OwnAgent = {
  name: 'tiny',
  title: 'Tiny',
  program: ['tiny', 'run'],
  package: { name: '@scope/tiny@1.2.3', integrity: HASH, entry: 'bin/tiny.js' },
  copy: ['.tiny/prompts'],
  instructions: '.tiny/AGENTS.md',
  print: ['once'],
  skipPermissions: ['--yes'],
  env: { BASE: '{broker}/v1', KEY: '{placeholder}' },
  provider: {
    api: 'openai',
    url: 'https://api.example.org',
    key: 'TINY_KEY',
    placeholder: 'sk-placeholder-of-run-claude-the-real-one-is-outside',
  },
};

const named = (text: string, where: string): NamedSettings => ({ where, settings: readConfigFile(text, where) });
const merge = (config: string, project = '', environment: Record<string, string> = {}) =>
  mergePolicy({
    config: named(config, 'config.toml'),
    projectFile: named(project, '.run-claude.toml'),
    projectIgnore: [],
    environment,
    flags: [],
  });

it('reads an agent with everything, and one with its program only', () => {
  expect(readConfigFile(WHOLE, 'c').agents).toEqual([TINY]);
  expect(readConfigFile('[agents.sh]\nprogram = ["sh"]\n', 'c').agents).toEqual([
    { name: 'sh', title: 'sh', program: ['sh'], copy: [], print: [], skipPermissions: [], env: {} },
  ]);
});

describe('refuses', () => {
  const agent = (line: string): string => `[agents.tiny]\nprogram = ["tiny"]\n${line}\n`;
  it.each([
    ['the name of an agent of run-claude', '[agents.codex]\nprogram = ["x"]', 'agents.codex: run-claude has an agent'],
    ['a name with other characters', '[agents."a b"]\nprogram = ["x"]', 'small letters'],
    ['no program', '[agents.tiny]\n', "agents.tiny: 'program' is missing"],
    ['a program with a path', '[agents.tiny]\nprogram = ["/bin/sh"]', 'the name of a program'],
    ['an option in place of the program', '[agents.tiny]\nprogram = ["-x"]', 'the name of a program'],
    ['an unknown key', agent('shell = "x"'), "unknown key 'shell'"],
    ['a path out of the home', agent('copy = ["../x"]'), 'agents.tiny.copy.0: a path below'],
    ['an absolute path', agent('instructions = "/etc/x"'), 'agents.tiny.instructions: a path below'],
    ['the whole home', agent('copy = ["."]'), 'agents.tiny.copy.0: a path below'],
    [
      'a package without a version',
      agent(`package = { name = "x", integrity = "${HASH}", entry = "x" }`),
      'name@1.2.3',
    ],
    [
      'a package without a hash',
      agent('package = { name = "x@1.0.0", entry = "x" }'),
      "agents.tiny.package: 'integrity' is missing",
    ],
    ['a short hash', agent('package = { name = "x@1.0.0", integrity = "sha512-x", entry = "x" }'), 'sha512-…'],
    [
      'an entry outside of the package',
      agent(`package = { name = "x@1.0.0", integrity = "${HASH}", entry = "../x" }`),
      'entry',
    ],
    ['a placeholder without a provider', agent('env = { KEY = "{placeholder}" }'), 'there is no provider'],
    [
      'a provider with a login in its address',
      agent('provider = { api = "openai", url = "https://me@x", key = "K" }'),
      'url',
    ],
    ['an unknown API', agent('provider = { api = "other", url = "https://x", key = "K" }'), 'provider.api'],
  ])('%s', (_, text, message) => {
    expect(() => readConfigFile(text, 'c')).toThrow(message);
  });
});

it('may be the usual agent, by the file and by the environment; another word is refused', () => {
  expect(merge(`agent = "tiny"\n${WHOLE}`).policy.agent).toBe('tiny');
  expect(merge(WHOLE, '', { RUN_CLAUDE_AGENT: 'tiny' }).policy.agent).toBe('tiny');
  expect(() => merge('agent = "tiny"')).toThrow("config.toml: there is no agent 'tiny'");
  expect(() => merge('agent = "codx"')).toThrow("config.toml: there is no agent 'codx'");
});

it('of a project is ignored with a message', () => {
  const { policy, warnings } = merge('', `agent = "tiny"\n${WHOLE}`);
  expect(policy.agent).toBeUndefined();
  expect(warnings.join('\n')).toContain('.run-claude.toml: [agents] cannot be set by a project; ignored');
  expect(warnings.join('\n')).toContain('agent = "tiny" cannot be set by a project; ignored');
});

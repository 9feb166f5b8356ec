import { describe, expect, it } from 'vitest';
import { refuseContradictions, withoutUnused } from '../../../../src/cli/policy/refuse-contradictions.ts';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { type FlagValue, mergePolicy } from '../../../../src/core/config/merge-policy.ts';
import type { Program } from '../../../../src/core/types/plan.ts';

const CLAUDE: Program = { kind: 'claude', args: [], print: false };
const CODEX: Program = { kind: 'codex', args: [], print: false };
const EXEC: Program = { kind: 'exec', argv: ['true'] };

function merged(flags: readonly (readonly [string, FlagValue['value']])[], config = '', project = '') {
  return mergePolicy({
    config: { where: 'config.toml', settings: readConfigFile(config, 'config.toml') },
    projectFile:
      project === '' ? undefined : { where: '.run-claude.toml', settings: readConfigFile(project, '.run-claude.toml') },
    projectIgnore: [],
    environment: {},
    flags: flags.map(([setting, value]) => ({ flag: `--${setting}`, setting, value })),
  });
}

const refuse = (policy: ReturnType<typeof merged>, program: Program) => (): void =>
  refuseContradictions(policy, { action: 'run', program });

describe('a session without a network', () => {
  const NONE = [['network', 'none']] as const;

  it('is refused for an agent that needs its provider, whoever turned the network off', () => {
    const error = (source: string) =>
      expect.objectContaining({ code: 'USAGE', message: `Claude cannot reach its provider with ${source}` });
    expect(refuse(merged(NONE), CLAUDE)).toThrow(error('--network none'));
    expect(refuse(merged([], 'network = "none"'), CLAUDE)).toThrow(error('network = "none" of config.toml'));
    expect(refuse(merged([], '', 'network = "none"'), CLAUDE)).toThrow(error('network = "none" of .run-claude.toml'));
    expect(refuse(merged(NONE), CODEX)).toThrow('cannot reach its provider');
    expect(refuse(merged([['network', 'gateway']], 'network = "none"'), CLAUDE)).not.toThrow();
  });

  it('starts what needs no provider', () => {
    expect(refuse(merged(NONE), EXEC)).not.toThrow();
    expect(refuse(merged(NONE), { kind: 'shell', args: [] })).not.toThrow();
    expect(refuse(merged(NONE), { kind: 'kept' })).not.toThrow();
    expect(refuse(merged([...NONE, ['credentials', 'none']]), CLAUDE)).not.toThrow();
  });

  it.each([
    ['port', ['3000']],
    ['allow-local', ['5432']],
    ['allow-host', ['a.test']],
    ['allow-address', ['10.0.0.0/8']],
  ] as const)(
    'is refused with --%s of the command line, and does without the same of the configuration',
    (name, value) => {
      const both = merged([...NONE, [name, value]], `${name} = ${JSON.stringify(value)}`);
      expect(refuse(both, EXEC)).toThrow(`--${name}: not with --network none`);
      const ofFile = merged(NONE, `${name} = ${JSON.stringify(value)}`);
      expect(refuse(ofFile, EXEC)).not.toThrow();
      const { policy, warnings } = withoutUnused(ofFile);
      expect(warnings).toEqual([`without a network these settings are not used: ${name}`]);
      expect([policy.ports, policy.allowLocal]).toEqual([[], []]);
      expect(withoutUnused(merged([], `${name} = ${JSON.stringify(value)}`)).warnings).toEqual([]);
    },
  );

  it('names everything of the configuration that it does not use, once', () => {
    const config = `allow-host = ["a.test"]
[[broker]]
host = "b.test"
header = "A"
from = ["x"]
[[mcp]]
name = "c"
url = "https://c.test/mcp"
[[mcp]]
name = "d"
command = ["x"]
`;
    expect(withoutUnused(merged(NONE, config)).warnings).toEqual([
      'without a network these settings are not used: allow-host, [[broker]], [[mcp]]',
    ]);
    expect(withoutUnused(merged([...NONE, ['mcp', false]], config)).warnings[0]).not.toContain('[[mcp]]');
  });
});

describe('bind mode', () => {
  const BIND = [['mode', 'bind']] as const;

  it.each([
    ['exclude', ['*.pem']],
    ['include', ['a']],
    ['include-ignored', ['dist/']],
    ['verify', true],
    ['strategy', 'copy'],
  ] as const)('is refused with --%s of the command line, which only a copy can have', (name, value) => {
    expect(refuse(merged([...BIND, [name, value]]), EXEC)).toThrow('needs copy mode, and this is bind mode');
    expect(
      refuse(
        merged([
          ['mode', 'copy'],
          [name, value],
        ]),
        EXEC,
      ),
    ).not.toThrow();
    expect(refuse(merged(BIND, `${name} = ${JSON.stringify(value)}`), EXEC)).not.toThrow();
  });
});

it('an option about the program of Claude is refused for another agent, and a setting is not', () => {
  expect(refuse(merged([['claude-version', 'latest']]), CODEX)).toThrow('--claude-version: not with');
  expect(refuse(merged([['claude-version', 'latest']]), CLAUDE)).not.toThrow();
  expect(refuse(merged([], 'claude-version = "latest"'), CODEX)).not.toThrow();
});

it('--no-mcp leaves out the servers of the configuration', () => {
  const config = '[[mcp]]\nname = "c"\nurl = "https://c.test/mcp"\n[[mcp]]\nname = "d"\ncommand = ["x"]\n';
  const { policy } = merged([['mcp', false]], config);
  expect([policy.mcpServers, policy.mcpPrograms]).toEqual([[], []]);
  expect(merged([], config).policy.mcpServers).toHaveLength(1);
});

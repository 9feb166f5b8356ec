import { expect, it } from 'vitest';
import { RUN_OPTIONS } from '../../../../src/cli/grammar/options.ts';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { SETTINGS } from '../../../../src/core/config/settings.ts';
import { RunClaudeError } from '../../../../src/core/errors.ts';

function fault(text: string): { readonly message: string; readonly hint: string | undefined } {
  try {
    readConfigFile(text, 'config.toml');
  } catch (error) {
    if (error instanceof RunClaudeError) return { message: error.message, hint: error.hint };
    throw error;
  }
  throw new Error('the text was taken');
}

it.each([
  ['memroy = "1g"', "config.toml: unknown key 'memroy'", "Did you mean 'memory'?"],
  ['[kubernetes]\nimge = "x"', "config.toml: kubernetes: unknown key 'imge'", "Did you mean 'image'?"],
  ['[[service]]\nname = "db"\nimagee = "x"', "config.toml: service.0: unknown key 'imagee'", "Did you mean 'image'?"],
  ['[engine.lab]\nhst = "ssh://x"', "config.toml: engine.lab: unknown key 'hst'", "Did you mean 'host'?"],
  ['[environment]\npackagess = ["a"]', "config.toml: environment: unknown key 'packagess'", "Did you mean 'packages'?"],
  ['[[mcp]]\nname = "a"\nulr = "x"', "config.toml: mcp.0: unknown key 'ulr'", "Did you mean 'url'?"],
  ['[audit]\nzzz = 1', "config.toml: audit: unknown key 'zzz'", 'It can have: rules, severities.'],
])('names the nearest key of the table: %j', (text, message, hint) => {
  expect(fault(text)).toEqual({ message, hint });
});

it.each([
  ['[engine.lab]', "config.toml: engine.lab: 'host' is missing"],
  ['[kubernetes]', "config.toml: kubernetes: 'image' is missing"],
  ['[network]\nallow = ["a"]', 'config.toml: network is a setting and not a table'],
  ['timeout = "5m\nmemory = "1g"', 'config.toml, line 1, column 14: not TOML: a string has no closing quote'],
  ['timeout = """5m', 'config.toml, line 1, column 11: not TOML: a string has no closing quote'],
  ['a = "b\u0007c"', 'config.toml, line 1, column 7: not TOML: control characters are not allowed in strings'],
])('says what is missing or wrong: %j', (text, message) => {
  expect(fault(text).message).toBe(message);
});

it.each([
  [
    '[audit.severities]\nx = "high"',
    'config.toml: audit.severities.x: not an allowed value',
    'Write one of: "blocked", "suspect", "note".',
  ],
  [
    '[[audit.rules]]\nid = "r"\npaths = ["a"]\nwhy = "w"\nseverity = 1',
    'config.toml: audit.rules.0.severity: not an allowed value',
    'Write one of: "blocked", "suspect", "note".',
  ],
  [
    '[project."/x"]\nmode = "cpoy"',
    'config.toml: project./x.mode: not an allowed value',
    'Write one of: "copy", "bind".',
  ],
  ['[project.x]\nmode = "copy"', "config.toml: project: 'x' is not an absolute path", undefined],
  [
    '[[broker]]\nhost = 1\nheader = "A"\nfrom = ["x"]',
    'config.toml: broker.0.host: not a text in quotes',
    'Write a text in quotes.',
  ],
  ['[[broker]]\nhost = "a"\nheader = "A"\nfrom = "x"', 'config.toml: broker.0.from: not a list', 'Write a list.'],
  [
    '[[mcp]]\nname = "a"\nurl = "https://a"\noauth = false',
    'config.toml: mcp.0.oauth: not an allowed value',
    'Write true.',
  ],
  ['[[mcp]]\nname = "a"\ncommand = []', 'config.toml: mcp.0.command: empty', undefined],
  ['mcp = true', 'config.toml: mcp: not a list', 'Write a list.'],
])('names a wrong value in words of TOML: %j', (text, message, hint) => {
  expect(fault(text)).toEqual({ message, hint });
});

it.each([
  ['copy-workspace = true', 'Write mode = "copy".'],
  ['copy = true', 'Write mode = "copy".'],
  ['bind = true', 'Write mode = "bind".'],
  ['no-ignored = true', 'Write copy-ignored = false.'],
  ['yes = true', 'This is for the command line alone: --yes.'],
  ['report = "x.md"', 'This is for the command line alone: --report.'],
])('names the key that is meant by the name of an option: %j', (text, hint) => expect(fault(text).hint).toBe(hint));

it('answers a table of limits with the keys, and every option with a key or the command line', () => {
  expect(fault('[limits]\nmemory = "4g"').hint).toContain('Write memory = "4g"');
  for (const { name, setting } of RUN_OPTIONS.filter((option) => option.setting !== '')) {
    const isKey = SETTINGS.some((one) => one.name === name && one.file !== false) || name === 'no-mcp';
    if (isKey) continue;
    expect(fault(`${name} = true`).hint, name).toMatch(/^Write |command line alone/);
    expect(setting, name).not.toBeUndefined();
  }
});

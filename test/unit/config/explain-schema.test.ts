import { expect, it } from 'vitest';
import { readConfigFile } from '../../../src/config/config-file.ts';
import { RunClaudeError } from '../../../src/errors.ts';

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
  ['[audit]\nzzz = 1', "config.toml: audit: unknown key 'zzz'", 'docs/reference/settings.md lists every key.'],
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

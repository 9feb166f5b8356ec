import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { readPolicy } from '../../../../src/cli/policy/read-policy.ts';
import type { FlagValue } from '../../../../src/core/config/merge-policy.ts';
import { RunClaudeError } from '../../../../src/core/errors.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-check-values-'));
afterAll(() => rmSync(root, { recursive: true }));
const at = (...names: string[]): string => path.join(root, ...names);
const config = at('config', 'config.toml');
mkdirSync(at('project'));
mkdirSync(at('config'));
beforeEach(() => writeFileSync(config, ''));

interface Sources {
  readonly file?: string;
  readonly env?: Record<string, string>;
  readonly flags?: readonly FlagValue[];
}

async function fault({ file = '', env = {}, flags = [] }: Sources): Promise<string> {
  writeFileSync(config, file);
  const places = { home: root, stateDir: at('s'), cacheDir: at('c'), dataDir: at('d'), configDir: at('config') };
  try {
    await readPolicy(undefined, flags, { cwd: at('project'), env, places });
  } catch (error) {
    if (error instanceof RunClaudeError && error.status === 2) return error.message;
    throw error;
  }
  return 'accepted';
}

const WRONG = [
  ['allow-host', 'https://github.com/x', 'is not HOST or HOST:PORT'],
  ['allow-host', '*.com', 'is not a host name'],
  ['allow-address', '10.0.0.0/99', 'is not an address range'],
  ['allow-local', '80', 'not a port'],
  ['port', '99999', 'is not a port'],
  ['network-presets', 'pypi-x', 'unknown network preset'],
] as const;

it.each(WRONG)(
  '%s = %j is refused with the file and the key, the variable, or the option',
  async (name, value, words) => {
    const ofFile = await fault({ file: `${name} = [${JSON.stringify(value)}]` });
    expect(ofFile.startsWith(`${config}: ${name}: `), ofFile).toBe(true);
    expect(ofFile).toContain(words);
    const variable = `RUN_CLAUDE_${name.toUpperCase().replaceAll('-', '_')}`;
    expect((await fault({ env: { [variable]: value } })).startsWith(`${variable}: `)).toBe(true);
    const flags = [{ flag: `--${name}`, setting: name, value: [value] }];
    // A right value of another source is not what the message names.
    const both = await fault({ file: 'port = ["3000"]\nallow-host = ["a.test"]', flags });
    expect(both.startsWith(`--${name}: `), both).toBe(true);
  },
);

it('names the file of a table that cannot be used, and what two values are in each other’s way', async () => {
  const broker = '[[broker]]\nhost = "a.test:8443"\nheader = "A"\nfrom = ["x"]\n';
  await expect(fault({ file: broker })).rejects.toThrow(`${config}: [[broker]] a.test:8443: a secret goes to one host`);
  expect(await fault({ file: '[[allow]]\nhost = "a.test"\nrequests = ["FETCH /x"]' })).toContain(
    `${config}: [[allow]]`,
  );
  expect(await fault({ file: '[[mcp]]\nname = "m"\nurl = "http://m.test/x"' })).toContain(`${config}: [[mcp]] m: `);
  expect(await fault({ file: 'port = ["3000", "3000:4000"]' })).toBe(`${config}: port: a port is named twice`);
  expect(await fault({ file: 'profile = "x"' })).toBe(`${config}: there is no profile 'x'`);
});

it('accepts what is right, whatever has it', async () => {
  const file = 'port = ["3000", "3001:4001"]\nallow-host = ["a.test:8443"]\nallow-local = ["5432:db"]';
  expect(await fault({ file, env: { RUN_CLAUDE_ALLOW_ADDRESS: '10.1.0.0/16, fd00::/64' } })).toBe('accepted');
});

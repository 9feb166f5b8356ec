import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loginStore, type McpLogin } from '../../../../../src/agents/mcp-login/login-store.ts';
import { mcpLoginCommand, offerToOpen } from '../../../../../src/cli/commands/mcp/mcp-login.ts';
import { mcpServersCommand } from '../../../../../src/cli/commands/mcp/mcp-servers.ts';
import type { CommandContext } from '../../../../../src/cli/context/context.ts';
import type { CommandLineOfCommand } from '../../../../../src/cli/grammar/parse-command-line.ts';
import type { Screen } from '../../../../../src/terminal/screen.ts';

// A program in place of the one that opens a browser: it stores the address that it is started with.

const ADDRESS = 'https://auth.test/authorize?state=a&scope=b';
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-open-'));
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${dir}/tmp' && mv '${dir}/tmp' '${dir}/opened'\n`;
  for (const name of ['xdg-open', 'open']) writeFileSync(path.join(dir, name), script, { mode: 0o755 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function answer(text: string | undefined, bin = dir): Promise<readonly string[]> {
  const [stdin, stderr, told]: [PassThrough, PassThrough, string[]] = [new PassThrough(), new PassThrough(), []];
  const screen = { stdin, stderr, env: {}, colour: false, dumb: true } as unknown as Screen;
  const tell = (line: string): void => void told.push(line);
  stderr.once('data', () => stdin.end(text));
  await offerToOpen(ADDRESS, screen, { PATH: `${bin}:/usr/bin:/bin` }, tell);
  return told;
}

it('a browser is opened after a yes, with the address as its one word', async () => {
  await answer('y\n');
  await expect.poll(() => existsSync(path.join(dir, 'opened'))).toBe(true);
  expect(readFileSync(path.join(dir, 'opened'), 'utf8')).toBe(`${ADDRESS}\n`);
});

it('nothing is opened without one, and the end of input ends the login', async () => {
  for (const text of ['\n', 'n\n']) await answer(text);
  for (const text of [undefined, 'yes please\n']) await expect(answer(text)).rejects.toThrow('interrupted');
  await new Promise((done) => setTimeout(done, 300));
  expect(existsSync(path.join(dir, 'opened'))).toBe(false);
});

it.for([['logout', mcpLoginCommand] as const, ['remove', mcpServersCommand] as const])(
  'mcp %s waits for a refresh, removes what it stored, and says that it revokes nothing',
  async ([word, command], { skip }) => {
    skip(process.platform === 'darwin', 'the commands would use the Keychain of the user');
    const store = loginStore(dir, 'box');
    const login = { version: 1, server: 'https://box.test/mcp', resource: 'r', issuer: 'i', tokenEndpoint: 't' };
    const stored = {
      ...login,
      client: { id: 'c', method: 'none' },
      access: 'a',
      refresh: 'r',
      expiresMs: 1,
    } as McpLogin;
    await store.write(stored);
    writeFileSync(path.join(dir, 'config.toml'), '[[mcp]]\nname = "box"\nurl = "https://box.test/mcp"\noauth = true\n');
    let finish: () => void = () => undefined;
    const refreshing = store.locked(async () => {
      await new Promise<void>((done) => {
        finish = done;
      });
      await store.write(stored);
    });
    const told: string[] = [];
    const context = {
      places: { dataDir: dir, configDir: dir, stateDir: dir },
      interruption: new AbortController(),
      tell: (event: { text: string }) => void told.push(event.text),
    } as unknown as CommandContext;
    const line = { words: [word, 'box'], rest: [], options: new Map() } as unknown as CommandLineOfCommand;
    const removing = command(line, context);
    await new Promise((done) => setTimeout(done, 100));
    finish();
    await Promise.all([refreshing, removing]);
    expect(await store.read()).toBeUndefined();
    expect(told.join('\n')).toContain('Its tokens are not revoked.');
  },
);

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { offerToOpen } from '../../../../src/cli/commands/mcp-login.ts';
import type { Screen } from '../../../../src/terminal/ask.ts';

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
  const asked = offerToOpen(ADDRESS, screen, { PATH: `${bin}:/usr/bin:/bin` }, tell);
  stdin.end(text);
  await asked;
  return told;
}

it('a browser is opened after a yes, with the address as its one word', async () => {
  await answer('y\n');
  await expect.poll(() => existsSync(path.join(dir, 'opened'))).toBe(true);
  expect(readFileSync(path.join(dir, 'opened'), 'utf8')).toBe(`${ADDRESS}\n`);
});

it('nothing is opened without one, and the end of input ends the login', async () => {
  for (const text of ['\n', 'n\n', 'yes please\n']) await answer(text);
  await expect(answer(undefined)).rejects.toThrow('interrupted');
  await new Promise((done) => setTimeout(done, 300));
  expect(existsSync(path.join(dir, 'opened'))).toBe(false);
});

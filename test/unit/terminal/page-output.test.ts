import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import type { Interruption } from '../../../src/terminal/interruption.ts';
import { openOutput, outputPager } from '../../../src/terminal/page-output.ts';

const terminal = Object.assign(new PassThrough(), { isTTY: true });
const TERM = 'xterm';

it.each<[Record<string, string>, readonly string[] | undefined]>([
  [{ TERM }, ['less']],
  [{ TERM, PAGER: 'more -s' }, ['more', '-s']],
  [{ TERM, PAGER: 'more', GIT_PAGER: 'most' }, ['most']],
  [{ TERM, GIT_PAGER: 'cat', PAGER: 'less' }, undefined],
  [{ TERM, PAGER: '' }, undefined],
  [{ TERM: 'dumb' }, undefined],
  [{}, undefined],
])('with %j the pager is %j', (env, pager) => {
  expect(outputPager({ stdout: terminal, env })).toEqual(pager);
});

it('needs a terminal for a pager', () => {
  expect(outputPager({ stdout: new PassThrough(), env: { TERM } })).toBeUndefined();
});

function folder(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-pager-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
const interruption = (signal = new AbortController().signal): Interruption => ({
  signal,
  by: () => undefined,
  next: () => ({ signal: signal, [Symbol.dispose]: () => undefined }),
  lend: () => ({ [Symbol.dispose]: () => undefined }),
});

it('passes all output to the pager, with git’s default options and without the preprocessor of less', async () => {
  const dir = folder();
  const pager = path.join(dir, 'pager');
  writeFileSync(pager, `#!/bin/sh\n(env; pwd; cat) >${dir}/seen\n`);
  chmodSync(pager, 0o755);
  const env = { PATH: process.env['PATH'] ?? '', TERM, PAGER: pager, LESSOPEN: '|x %s', LESSSECURE: '0' };
  {
    await using output = openOutput({ stdout: terminal, env, interruption: interruption() });
    for (let at = 0; at < 5_000; at++) await output.write(`line ${at} ${'x'.repeat(100)}\n`);
  }
  const seen = readFileSync(path.join(dir, 'seen'), 'utf8');
  expect(seen).toContain('LESS=FRX\n');
  expect(seen).toContain('LESSSECURE=1\n');
  expect(seen).not.toContain('LESSOPEN');
  expect(seen).toContain('\n/\nline 0 ');
  expect(seen).toContain('line 4999 ');
});

it('stops when the user leaves the pager, when it is missing, and when the command is stopped', async () => {
  const left = openOutput({
    stdout: terminal,
    env: { PATH: process.env['PATH'], TERM, PAGER: 'true' },
    interruption: interruption(),
  });
  while (!left.unread.aborted) await left.write('x'.repeat(100_000));
  await left[Symbol.asyncDispose]();

  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  const missing = openOutput({ stdout, env: { PATH: '/nowhere', TERM }, interruption: interruption() });
  await missing.write('shown all the same\n');
  await missing[Symbol.asyncDispose]();
  expect(String(stdout.read())).toBe('shown all the same\n');

  const stop = new AbortController();
  const env = { PATH: process.env['PATH'], TERM, PAGER: 'sleep 600' };
  const waiting = openOutput({ stdout: terminal, env, interruption: interruption(stop.signal) });
  await waiting.write('x');
  stop.abort();
  await waiting[Symbol.asyncDispose]();
  expect(waiting.unread.aborted).toBe(true);
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkLines } from '../../../../src/cli/batch/check-lines.ts';
import { readTasks } from '../../../../src/cli/batch/tasks/read-tasks.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import type { CommandLineOfCommand } from '../../../../src/cli/grammar/parse-command-line.ts';
import { findPlaces } from '../../../../src/core/host/facts.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-check-lines-')));
  for (const name of ['home', 'project', 'other']) mkdirSync(path.join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function check(text: string, options: Readonly<Record<string, string>> = {}) {
  const cwd = path.join(root, 'project');
  const home = path.join(root, 'home');
  const env = { HOME: home };
  const context = { env, cwd, places: findPlaces(env, home) } as unknown as CommandContext;
  const given = Object.entries(options).map(([name, value]) => [name, [value]] as const);
  const line = { kind: 'command', name: 'batch', words: ['f'], rest: [], options: new Map(given) };
  return checkLines(
    readTasks(text, { name: 'f', cwd }),
    { line: line as unknown as CommandLineOfCommand, name: 'f' },
    context,
  );
}

it('gives each line the policy of its own project and limits, in copy mode', async () => {
  const limited = JSON.stringify({ prompt: 'b', project: '../other', timeout: '2m' });
  const lines = await check(`a\n${limited}\nc`, { timeout: '1m' });
  expect(lines.map(({ policy }) => [policy.mode, policy.timeoutMs])).toEqual([
    ['copy', 60_000],
    ['copy', 120_000],
    ['copy', 60_000],
  ]);
  expect(lines.map(({ line }) => path.basename(line.project ?? ''))).toEqual(['project', 'other', 'project']);
});

it.each([
  [{ project: 'missing' }, 'there is no folder '],
  [{ project: 'x'.repeat(5000) }, 'there is no folder '],
  [{ project: '../home' }, 'is or contains your home directory'],
  [{ project: '/' }, '/ is not a project'],
  [{ agent: 'nobody' }, "there is no agent 'nobody'"],
  [{ timeout: '5y' }, "--timeout: '5y' is not allowed"],
])('refuses %j with its line', async (fields, message) => {
  const text = `first\n${JSON.stringify({ prompt: 'a', ...fields })}`;
  await expect(check(text)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('f, line 2: ') });
  await expect(check(text)).rejects.toThrow(message);
});

it('refuses bind mode: sessions side by side would write to the same files', async () => {
  await expect(check('a', { bind: '' })).rejects.toThrow('f, line 1: a task of a batch works on a copy');
});

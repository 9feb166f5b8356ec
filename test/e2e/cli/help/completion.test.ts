import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = path.join(import.meta.dirname, '../../../../dist/main.js');
const ID = '261129-071213-xvp';
let home: string;
let env: Record<string, string>;

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'run-claude-completion-'));
  mkdirSync(path.join(home, 'bin'));
  writeFileSync(path.join(home, 'bin/run-claude'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
  mkdirSync(path.join(home, `.local/state/run-claude/sessions/${ID}`), { recursive: true });
  env = { HOME: home, PATH: `${home}/bin:${process.env['PATH']}`, LC_ALL: 'C.UTF-8' };
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What bash has for the last of these words. */
function inBash(...words: readonly string[]): string[] {
  const script = `eval "$(run-claude completion bash)"
COMP_WORDS=(run-claude "$@"); COMP_CWORD=$#
compopt() { echo "without a blank"; }
_run_claude; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script, 'bash', ...words], { env, encoding: 'utf8' })
    .trim()
    .split('\n');
}

test('bash completes commands, options, values and ids', () => {
  expect(inBash('exp')).toEqual(['export', 'explore']);
  expect(inBash('exec', '--engi')).toEqual(['--engine']);
  expect(inBash('exec', '--engine', '=', 'd')).toEqual(['docker']);
  expect(inBash('diff', '2611')).toEqual([ID]);
  expect(inBash('exec', '--', 'l')).toEqual(['']);
  expect(inBash('--copy-workspace=')).toContain('--copy-workspace=layers');
});

test('a shell without completion, and a missing one, are named', () => {
  const run = (...words: readonly string[]): string => {
    try {
      return execFileSync(path.join(home, 'bin/run-claude'), ['completion', ...words], {
        env,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      const { status, stderr } = error as { readonly status: number; readonly stderr: string };
      return `${status} ${stderr}`;
    }
  };
  expect(run('tcsh')).toMatch(/^2 [\s\S]*no completion for 'tcsh'[\s\S]*completion fish/);
  expect(run()).toMatch(/^2 [\s\S]*which shell\?/);
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { OPENER_SCENES } from '../../../../src/rehearsal/scenes/openers.ts';

/** The words that the settings of a project start, each of which writes itself into a file. */
function started(scene: string, files: Readonly<Record<string, string>>): readonly string[] {
  const dir = mkdtempSync(path.join(tmpdir(), 'openers-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
      writeFileSync(path.join(dir, name), text);
    }
    writeFileSync(path.join(dir, 'started'), '');
    const command = OPENER_SCENES.find(({ name }) => name === scene)?.command ?? '';
    execFileSync('bash', ['-c', command], { cwd: dir, stdio: 'ignore' });
    return readFileSync(path.join(dir, 'started'), 'utf8').trim().split('\n');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const say = (word: string): string => `echo ${word} >> started`;

it('starts the tasks that VS Code starts by itself, and no others', () => {
  const run = { runOn: 'folderOpen' };
  const tasks = [
    { command: 5, runOptions: run },
    { command: say('no') },
    { command: say('shell'), runOptions: run },
    { command: 'sh', args: ['-c', { value: say('words') }], runOptions: run },
    { command: 'true', linux: { command: say('linux') }, runOptions: run },
  ];
  const text = `// settings\n{ "version": "2.0.0", /* a "comment" */ "tasks": ${JSON.stringify(tasks).slice(0, -1)},] }`;
  expect(started('VS Code opens the folder', { '.vscode/tasks.json': text })).toEqual(['shell', 'words', 'linux']);
});

it('starts hooks, helpers and servers of Claude Code', () => {
  const settings = {
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: say('hook') }] }], Stop: 'not a list' },
    statusLine: { type: 'command', command: say('line') },
    apiKeyHelper: say('helper'),
  };
  const servers = {
    mcpServers: { a: { command: 'sh', args: ['-c', say('server')] }, b: { url: 'https://x.example' } },
  };
  expect(
    started('Claude Code opens the folder', {
      '.claude/settings.json': JSON.stringify(settings),
      '.claude/settings.local.json': '{ not JSON',
      '.mcp.json': JSON.stringify(servers),
    }),
  ).toEqual(['hook', 'line', 'helper', 'server']);
});

it('starts what other agents and a development container start', () => {
  expect(
    started('other agents open the folder', {
      '.codex/config.toml': `notify = ["sh", "-c", "${say('notify')}"]\n[mcp_servers.a]\ncommand = "sh"\nargs = ["-c", "${say('codex')}"]\n`,
      '.gemini/settings.json': JSON.stringify({ mcpServers: { a: { command: say('gemini') } } }),
      '.cursor/hooks.json': JSON.stringify({ hooks: { afterFileEdit: [{ command: say('cursor') }] } }),
    }),
  ).toEqual(['notify', 'codex', 'gemini', 'cursor']);
  const initialize = { initializeCommand: { one: say('one'), two: ['sh', '-c', say('two')] } };
  expect(
    started('a development container starts', { '.devcontainer/devcontainer.json': JSON.stringify(initialize) }),
  ).toEqual(['one', 'two']);
});

it('starts the hooks of husky', () => {
  expect(started('hooks of husky', { '.husky/pre-commit': say('commit'), '.husky/pre-push': say('push') })).toEqual([
    'commit',
    'push',
  ]);
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OWN_TOOLS, PLUGIN_NAME } from '../../../../src/cli/plugin/tools.ts';
import { TYPED_COMMANDS } from '../../../../src/cli/plugin/typed-command.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8');
const json = (name: string) => JSON.parse(read(name));

it('the plugin is part of the package, with its version and its names', () => {
  const { version, files } = json('package.json');
  expect(files).toContain('plugin');
  expect(json('plugin/.claude-plugin/plugin.json')).toMatchObject({ name: PLUGIN_NAME, version });
  const [server] = Object.keys(json('plugin/.mcp.json').mcpServers);
  expect(`mcp__plugin_${PLUGIN_NAME}_${server}__`).toBe(OWN_TOOLS);
});

it('every call of a tool comes to the hook, and a hook that fails in any way refuses the call', () => {
  const { PreToolUse, ...others } = json('plugin/hooks/hooks.json').hooks;
  const hookCommand: string = PreToolUse[0].hooks[0].command;
  expect(PreToolUse).toEqual([
    {
      matcher: '*',
      hooks: [
        {
          type: 'command',
          command: hookCommand,
          timeout: 3600,
          onFailure: 'block',
        },
      ],
    },
  ]);
  expect(Object.keys(others)).toEqual(['SessionStart', 'UserPromptSubmit']);
});

it('the plugin has no script but those that find run-claude, and no command of it runs anything or can be started by the model', () => {
  const names = readdirSync(path.join(root, 'plugin'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(path.join(root, 'plugin'), path.join(entry.parentPath, entry.name)));
  const commands = TYPED_COMMANDS.map((name) => `commands/${name}.md`);
  const others = [
    'README.md',
    '.claude-plugin/marketplace.json',
    '.claude-plugin/plugin.json',
    '.mcp.json',
    'hooks/hooks.json',
    'hooks/find-outside.sh',
    'hooks/run-claude.sh',
  ];
  expect(names.sort()).toEqual([...commands, ...others].sort());
  for (const command of commands) {
    const text = read(`plugin/${command}`);
    expect(text).toMatch(/^---\ndescription: .+\ndisable-model-invocation: true\n---\n/);
    expect(text).not.toMatch(/!`|\$|@|allowed-tools/);
  }
});

describe('the command of the hook', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'plugin-hook-'));
  // As Claude Code keeps it: without the package around it.
  const copy = path.join(dir, 'copy');
  cpSync(path.join(root, 'plugin'), copy, { recursive: true });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const { command } = json('plugin/hooks/hooks.json').hooks.PreToolUse[0].hooks[0];

  /** With a program of this text as run-claude. */
  const run = (program: string | undefined) => {
    rmSync(path.join(dir, 'run-claude'), { force: true });
    if (program !== undefined) writeFileSync(path.join(dir, 'run-claude'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    const env = { PATH: `${dir}:/usr/bin:/bin`, HOME: dir, CLAUDE_PLUGIN_ROOT: copy };
    const options = { encoding: 'utf8', input: '{"a":1}', cwd: '/', env } as const;
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], options);
    return { status, stdout, refuses: stderr.includes('refuses this call') };
  };

  it('hands the answer on', () => {
    expect(run('cat')).toEqual({ status: 0, stdout: '{"a":1}\n', refuses: false });
  });

  it.each([
    ['is missing', undefined],
    ['fails', 'echo "{}"; exit 1'],
    ['is killed', 'kill -9 $$'],
    ['ends early', `printf '{"hookSpecificOutput":'`],
    ['prints nothing', 'exit 0'],
    ['prints another text', 'echo allowed'],
  ])('refuses where run-claude %s', (_, program) => {
    expect(run(program)).toEqual({ status: 2, stdout: '', refuses: true });
  });

  it('starts no run-claude of the project, and one of the package where the plugin is a part of it', () => {
    const project = path.join(dir, 'project');
    mkdirSync(path.join(project, 'bin'), { recursive: true });
    for (const name of ['run-claude', 'sh', 'node'])
      writeFileSync(path.join(project, 'bin', name), '#!/bin/sh\necho planted\n', { mode: 0o755 });
    const PATH = `${project}/bin:${path.dirname(process.execPath)}:/usr/bin:/bin`;
    const start = (plugin: string, words: readonly string[]) =>
      spawnSync('/bin/sh', [path.join(plugin, 'hooks/run-claude.sh'), ...words], {
        cwd: project,
        encoding: 'utf8',
        env: { PATH, HOME: path.join(dir, 'home') },
      });
    expect(start(copy, ['version'])).toMatchObject({ status: 127, stdout: '' });
    expect(start(path.join(root, 'plugin'), ['version']).stdout).not.toContain('planted');
  });
});

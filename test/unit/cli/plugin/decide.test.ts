import { describe, expect, it } from 'vitest';
import { decideTool, type ToolFacts } from '../../../../src/cli/plugin/decide.ts';
import { HARMLESS_TOOLS, OWN_TOOLS, REPLACED_TOOLS } from '../../../../src/cli/plugin/tools.ts';

const facts: ToolFacts = {
  runClaude: ['/usr/bin/node', '/opt/run claude/main.js'],
  places: [
    { host: '/home/me/project', inside: '/workspace' },
    { host: '/home/me/link', inside: '/workspace/packages/one' },
  ],
  passthrough: [],
  tools: [],
  question: undefined,
};

const decide = (tool: string, input: object, more: Partial<ToolFacts> = {}) =>
  decideTool({ tool, input: { ...input }, conversation: 'c' }, { ...facts, ...more });

describe('a command', () => {
  it('runs in the session, without the words that turn a sandbox off', () => {
    const input = { command: 'ls', timeout: 5, run_in_background: false, dangerouslyDisableSandbox: true };
    const decision = decide('Bash', input);
    if (decision.kind !== 'inside') throw new Error(decision.kind);
    const { command, ...rest } = decision.input('261123-000000-abc');
    expect(rest).toEqual({ timeout: 5, run_in_background: false });
    expect(command).toMatch(
      /^\/usr\/bin\/node '\/opt\/run claude\/main\.js' exec --session 261123-000000-abc -- \/bin\/bash -c '.*' bash ls \/tmp\/\.directory-[0-9a-f]{16} <\/dev\/null$/s,
    );
  });

  // Nothing of the plugin is a command, so that none is exempt: not its files, not run-claude itself.
  it.each([
    '/home/me/.claude/plugins/cache/run-claude/run-claude/0.1.0/commands/apply.md',
    '$CLAUDE_PLUGIN_ROOT/scripts/apply.sh',
    'run-claude apply --yes',
    '/usr/bin/node /opt/run claude/main.js apply --yes',
    "/usr/bin/node '/opt/run claude/main.js' exec --session x -- true",
    'claude -p /boxed:apply',
    '/boxed:apply 123456',
    'sudo id',
    'docker ps',
  ])('%j is not exempt', (command) => {
    expect(decide('Bash', { command }, { passthrough: ['sudo id', 'docker ps', 'run-claude apply --yes'] }).kind).toBe(
      'inside',
    );
  });

  it('of the passthrough list runs on the host only once the user agrees, with a warning', () => {
    expect(decide('Bash', { command: 'git status' }, { passthrough: ['git status'] })).toEqual({
      kind: 'ask',
      warning: expect.stringContaining(`OUTSIDE the copy, on your machine, by the entry 'git status'`),
    });
    expect(decide('Bash', { command: 'git status; id' }, { passthrough: ['git status'] }).kind).toBe('inside');
  });

  it.each([
    [{}],
    [{ command: 1 }],
    [{ command: ['ls'] }],
    [{ command: 'a\0b' }],
    [{ command: 'ls', run_in_background: true }],
  ])('that is %j is refused', (input) => {
    expect(decide('Bash', input).kind).toBe('refuse');
  });
});

describe('a file tool', () => {
  it.each(Object.entries(REPLACED_TOOLS))('%s is refused, and the refusal names %s', (tool, own) => {
    expect(decide(tool, { file_path: '/x' })).toEqual({
      kind: 'refuse',
      reason: expect.stringContaining(`${OWN_TOOLS}${own} instead`),
    });
  });

  it('stays refused where the user allows it by name', () => {
    expect(decide('Write', {}, { tools: ['Write', '*', 'W*'] }).kind).toBe('refuse');
  });

  it('of the plugin acts in the copy, by paths of the host too', () => {
    const input = (path: string) => decide(`${OWN_TOOLS}read`, { path, pattern: '/home/me/project' });
    const own = (path: string) => ({ kind: 'own', input: { path, pattern: '/home/me/project' } });
    expect(input('/home/me/project')).toEqual(own('/workspace'));
    expect(input('/home/me/project/src/a.ts')).toEqual(own('/workspace/src/a.ts'));
    expect(input('/home/me/link/a')).toEqual(own('/workspace/packages/one/a'));
    expect(input('/home/me/projects/a')).toEqual(own('/home/me/projects/a'));
    expect(input('src/a')).toEqual(own('src/a'));
  });
});

describe('another tool', () => {
  it.each([
    'WebFetch',
    'PowerShell',
    'Monitor',
    'REPL',
    'Skill',
    'SlashCommand',
    'EnterWorktree',
    'CronCreate',
    'NewTool',
    'bash',
    'constructor',
    '__proto__',
    'mcp__github__create',
  ])('%s is refused', (tool) => {
    expect(decide(tool, {}).kind).toBe('refuse');
  });

  it.each([...HARMLESS_TOOLS])('%s is left to the rules of Claude Code', (tool) => {
    expect(decide(tool, {})).toEqual({ kind: 'leave' });
  });

  it('that starts an agent in a worktree of the host is refused', () => {
    expect(decide('Agent', { isolation: 'worktree' }).kind).toBe('refuse');
  });

  it('of an MCP server is left to Claude Code where the user allows it by name', () => {
    const tools = ['mcp__github__get', 'mcp__docs__*', '*', 'Web*'];
    const left = ['mcp__github__get', 'mcp__docs__search', 'mcp__github__create', 'WebFetch'].filter(
      (tool) => decide(tool, {}, { tools }).kind === 'leave',
    );
    expect(left).toEqual(['mcp__github__get', 'mcp__docs__search']);
  });
});

it('nothing runs while the user decides about the changes', () => {
  const question = 'The user is deciding';
  for (const tool of ['Bash', `${OWN_TOOLS}write`])
    expect(decide(tool, { command: 'ls' }, { question })).toEqual({ kind: 'refuse', reason: question });
});

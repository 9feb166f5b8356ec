import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mainJs, Scene } from '../../../../support/scene.ts';

const tool = (name: string, input: object) =>
  JSON.stringify({ session_id: 'c', hook_event_name: 'PreToolUse', tool_name: name, tool_input: input });
const prompt = (text: string) => JSON.stringify({ session_id: 'c', hook_event_name: 'UserPromptSubmit', prompt: text });
const START = JSON.stringify({ session_id: 'c', hook_event_name: 'SessionStart', source: 'startup' });

function hookOf(scene: Scene, env: Readonly<Record<string, string>> = {}) {
  return async (input: string) => {
    const { status, stdout, stderr } = await scene.run(['plugin', 'hook'], { input, env });
    const answer = stdout === '' ? undefined : JSON.parse(stdout);
    return { status, stderr, answer, decided: answer?.hookSpecificOutput ?? answer };
  };
}

function configure(scene: Scene, text: string): void {
  const dir = path.join(scene.root, 'config', 'run-claude');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(dir, 'config.toml'), text);
}

it('the hook of the plugin refuses what it cannot decide, without an engine too', async () => {
  await using scene = new Scene();
  const hook = hookOf(scene, { DOCKER_HOST: `unix://${scene.root}/no-engine.sock` });
  for (const input of ['', 'x', '{}', tool('Bash', []), START.slice(1)]) {
    const { status, answer } = await hook(input);
    expect([status === 0, answer], input).toEqual([false, undefined]);
  }
  const command = await hook(tool('Bash', { command: 'ls' }));
  expect([command.status, command.decided]).toEqual([
    0,
    expect.objectContaining({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(/^Nothing was run\. [\s\S]*no-engine\.sock/),
    }),
  ]);
  expect((await hook(tool('Read', { file_path: '/etc/passwd' }))).decided).toMatchObject({
    permissionDecision: 'deny',
  });
  expect((await hook(tool('TodoWrite', {}))).answer).toEqual({});
  expect((await hook(prompt('hi'))).answer).toEqual({});
  const start = await hook(START);
  expect(start.answer.systemMessage).toContain('Every command and file call is refused until this works');
  expect((await hook(prompt('/boxed:apply'))).answer).toMatchObject({
    decision: 'block',
    reason: expect.stringContaining('no changes'),
  });
  expect((await hook(prompt('/boxed:apply 123456'))).answer).toMatchObject({
    reason: expect.stringContaining('not valid'),
  });
  // A project that cannot be copied: a home.
  const home = hookOf(scene, { CLAUDE_PROJECT_DIR: scene.home });
  expect((await home(tool('Bash', { command: 'ls' }))).decided).toMatchObject({ permissionDecision: 'deny' });
});

it('the passthrough list is that of the user alone, and a damaged one refuses every command', async () => {
  await using scene = new Scene();
  const hook = hookOf(scene, { DOCKER_HOST: `unix://${scene.root}/no-engine.sock` });
  const decide = async (command: string) => (await hook(tool('Bash', { command }))).decided.permissionDecision;
  scene.write('.run-claude.toml', '[plugin]\npassthrough = ["git status"]\ntools = ["mcp__x__*"]\n');
  expect(await decide('git status')).toBe('deny');
  expect((await hook(tool('mcp__x__y', {}))).decided.permissionDecision).toBe('deny');
  configure(scene, '[plugin]\npassthrough = ["git status", "docker ps"]\ntools = ["mcp__x__*"]\n');
  expect(await decide('git status')).toBe('ask');
  expect(await decide('git status; id')).toBe('deny');
  expect(await decide('docker ps')).toBe('deny');
  expect((await hook(tool('mcp__x__y', {}))).answer).toEqual({});
  expect((await scene.run(['plugin', 'passthrough'])).stdout).toBe(
    'git status\ndocker ps  (refused: docker starts containers on your machine)\n',
  );
  configure(scene, '[plugin]\npassthrough = "*"\n');
  expect(await decide('git status')).toBe('deny');
});

it('every start of a conversation finds the same session, and a command goes to it', async () => {
  await using scene = new Scene();
  const link = path.join(scene.root, 'link');
  symlinkSync(scene.project, link);
  const hook = hookOf(scene, { CLAUDE_PROJECT_DIR: link });
  const starts = [];
  for (const source of ['startup', 'resume', 'clear', 'compact'])
    starts.push((await hook(START.replace('startup', source))).answer.systemMessage);
  expect(new Set(starts).size).toBe(1);
  expect(starts[0]).not.toContain('WARNING');
  scene.write('.claude/settings.json', '{"disableAllHooks":true}');
  expect((await hook(START)).answer.systemMessage).toContain(
    'WARNING: .claude/settings.json: Claude Code runs on your machine',
  );
  const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect(sessions).toHaveLength(1);
  const { updatedInput } = (await hook(tool('Bash', { command: `echo 'a  b' "$PWD"`, timeout: 7 }))).decided;
  expect(updatedInput.timeout).toBe(7);
  expect(updatedInput.command).toContain(`${realpathSync(mainJs)} exec --session ${sessions[0].id} -- /bin/bash`);
  expect(scene.shell(updatedInput.command)).toBe('a  b /workspace\n');
  // No program in it needs a credential.
  expect(JSON.stringify(sessions)).not.toContain('sk-ant');
  expect((await hook(prompt('/boxed:discard'))).answer.reason).toContain('no changes');
  expect(existsSync(path.join(scene.places().stateDir, 'plugin'))).toBe(false);
});

it('a conversation whose container died goes on in a new copy, and the user reads which work that lacks', async () => {
  await using scene = new Scene();
  const hook = hookOf(scene);
  const run = async (command: string) => {
    const { answer, decided } = await hook(tool('Bash', { command }));
    return { answer, printed: scene.shell(decided.updatedInput.command) };
  };
  const first = await run('echo early > early.txt');
  expect(first.answer).not.toHaveProperty('systemMessage');
  const [early] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  execFileSync('docker', ['rm', '-f', `run-claude-${early.id}`]);
  await expect
    .poll(async () => JSON.parse((await scene.run(['sessions', '--json'])).stdout)[0].stage, { timeout: 30_000 })
    .toBe('pending');
  const next = await run('ls');
  expect(next.printed).not.toContain('early.txt');
  expect(next.answer.systemMessage).toContain(`session ${early.id} has ended`);
  expect(next.answer.systemMessage).toContain(`run-claude apply ${early.id}`);
  // Once: the next call has nothing new to say.
  expect((await run('ls')).answer).not.toHaveProperty('systemMessage');
});

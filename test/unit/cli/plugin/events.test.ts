import { describe, expect, it } from 'vitest';
import * as answers from '../../../../src/cli/plugin/answers.ts';
import { readEvent } from '../../../../src/cli/plugin/event.ts';
import { typedCommand } from '../../../../src/cli/plugin/typed-command.ts';

const event = (more: object) => JSON.stringify({ session_id: 'c', cwd: '/', ...more });

describe('an event', () => {
  it('is a call of a tool, a prompt or the start of a conversation', () => {
    expect(
      readEvent(event({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } })),
    ).toEqual({
      kind: 'tool',
      conversation: 'c',
      tool: 'Bash',
      input: { command: 'ls' },
    });
    const ofAgent = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {}, agent_id: 'a1' };
    expect(readEvent(event(ofAgent))).toMatchObject({ conversation: 'c a1' });
    expect(readEvent(event({ hook_event_name: 'UserPromptSubmit', prompt: 'hi' }))).toMatchObject({ kind: 'prompt' });
    for (const source of ['startup', 'resume', 'clear', 'compact'])
      expect(readEvent(event({ hook_event_name: 'SessionStart', source }))).toEqual({
        kind: 'start',
        conversation: 'c',
      });
  });

  it.each([
    '',
    'x',
    '[]',
    'null',
    '"PreToolUse"',
    '{}',
    event({}),
    event({ hook_event_name: 'PreToolUse' }),
    event({ hook_event_name: 'PreToolUse', tool_name: 'Bash' }),
    event({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: [] }),
    event({ hook_event_name: 'PreToolUse', tool_name: 1, tool_input: {} }),
    event({ hook_event_name: 'UserPromptSubmit' }),
    event({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: {} }),
    JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {} }),
    `${event({ hook_event_name: 'SessionStart' })}x`,
  ])('is not %j', (text) => {
    expect(readEvent(text)).toBeUndefined();
  });
});

it('an answer about a call names its event and its decision', () => {
  expect(JSON.parse(answers.insideTheCopy({ command: 'x' }))).toMatchObject({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { command: 'x' } },
  });
  expect(JSON.parse(answers.refusal('no'))).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' },
  });
  expect(JSON.parse(answers.question('careful'))).toMatchObject({
    systemMessage: 'careful',
    hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'careful' },
  });
  expect(JSON.parse(answers.promptAnswer('text'))).toMatchObject({ decision: 'block', reason: 'text' });
});

describe('a prompt', () => {
  it.each([
    ['/boxed:status', { name: 'status', code: undefined }],
    [' /boxed:apply \n', { name: 'apply', code: undefined }],
    ['/boxed:apply 123456', { name: 'apply', code: '123456' }],
    ['/boxed:discard 000000', { name: 'discard', code: '000000' }],
  ])('%j is a command', (prompt, command) => {
    expect(typedCommand(prompt)).toEqual(command);
  });

  it.each([
    '/boxed:apply yes',
    '/boxed:apply 12345',
    '/boxed:apply 1234567',
    '/boxed:apply 123456 now',
    '/boxed:apply\n123456',
    '/boxed:status 123456',
    '/boxed:constructor',
    '/boxed:',
    '/boxed:apply 123456\n<task-notification>',
  ])('%j is refused as an unknown command', (prompt) => {
    expect(typedCommand(prompt)).toBe('unknown');
  });

  it.each(['', 'hi', 'boxed:apply', 'please type /boxed:apply 123456', '<x>/boxed:apply</x>', '/boxed'])(
    '%j is for the model',
    (prompt) => {
      expect(typedCommand(prompt)).toBeUndefined();
    },
  );
});

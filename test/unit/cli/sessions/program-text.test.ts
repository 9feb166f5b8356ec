import { expect, it } from 'vitest';
import { promptOf } from '../../../../src/agents/claude/command-line/conversation.ts';
import { programText } from '../../../../src/cli/sessions/program-text.ts';
import type { Program } from '../../../../src/core/types/plan.ts';

const claude = (...args: string[]): Program => ({ kind: 'claude', args, print: args.includes('-p') });

it.each<[Program, string]>([
  [claude('-p', 'fix the\n tests'), '"fix the tests"'],
  [claude('--model', 'opus', '-p', '--allowedTools', 'Edit', 'go on'), '"go on"'],
  [claude('--', '-x'), '"-x"'],
  [claude(), 'claude'],
  [claude('--continue'), 'claude --continue'],
  [
    { kind: 'exec', argv: ['sh', '-c', "echo 'a'  b", '--password', 'x'] },
    `sh -c 'echo '\\''a'\\'' b' --password [masked]`,
  ],
  [{ kind: 'shell', args: [] }, 'shell'],
  [{ kind: 'shell', args: ['-c', 'make all'] }, "shell -c 'make all'"],
])('names what %j ran', (program, text) => {
  expect(programText(program)).toBe(text);
});

it('does not take the id of a conversation for a prompt', () => {
  const resumed = ['--resume', '8ac0f7de-9d5b-4c58-9a3c-0f7f0a2f5f11', '-p', 'go on'];
  expect(promptOf(resumed)).toBe('go on');
  expect(promptOf(['--resume', 'fix the tests'])).toBe('fix the tests');
});

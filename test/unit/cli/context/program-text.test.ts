import { expect, it } from 'vitest';
import { programText } from '../../../../src/cli/context/program-text.ts';
import type { Program } from '../../../../src/types/plan.ts';

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

import { expect, it } from 'vitest';
import { refusedProgram } from '../../../../src/cli/plugin/refused-programs.ts';

it.each([
  ['docker', 'starts containers on your machine'],
  ['SUDO', 'runs commands as another user'],
  ['ash', 'runs any other command'],
  ['python3.12', 'runs code that a word of the command holds'],
  ['node.exe', 'runs code that a word of the command holds'],
  ['claude', 'is itself a way out of the copy'],
])('%s %s', (program, why) => {
  expect(refusedProgram(program)).toBe(why);
});

it.each(['git', 'ls', 'constructor', 'toString', ''])('the name %j alone refuses nothing', (program) => {
  expect(refusedProgram(program)).toBeUndefined();
});

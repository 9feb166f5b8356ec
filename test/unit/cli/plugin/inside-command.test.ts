import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { insideCommand } from '../../../../src/cli/plugin/inside-command.ts';

const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'inside-command-')));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const options = { session: '261123-000000-abc', conversation: 'c', runClaude: ['printf', '%s\\0'] };

it.each(['sh', 'bash'])('%s hands every command on as it is', (shell) => {
  const commands = [
    `echo 'a' "b" $(id) \`id\` ; rm -rf / & | > < \\ ! # ~ * ? [x] {a,b}`,
    `'`,
    `''`,
    `'\\''; touch ${dir}/out; '`,
    'a\nb',
    "\\'; id; '",
    '-n',
    'é\u202e',
    ...fc.sample(fc.string({ unit: fc.constantFrom("'", '"', '\\', '$', '`', '\n', ' ', ';', '!', 'a', '(') }), 40),
  ];
  const script = commands.map((command) => insideCommand(command, options)).join('\n');
  const words = execFileSync(shell, ['-c', script], { encoding: 'utf8' }).split('\0');
  const each = words.length / commands.length;
  expect(commands.map((_, at) => words[Math.floor(each) * at + 8])).toEqual(commands);
  expect(words[0]).toBe('exec');
});

it('the directory stays from one command to the next, and the exit status is that of the command', () => {
  mkdirSync(path.join(dir, 'sub'));
  const run = (command: string, conversation = 'c') => {
    const script = insideCommand(command, { ...options, conversation, runClaude: ['printf', '%s\\0'] });
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(4, -1);
    const [program = '', ...args] = words.map((word) => word.replace('/tmp/', `${dir}/`));
    try {
      return {
        out: execFileSync(program, args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
        status: 0,
      };
    } catch (error) {
      return { out: '', status: (error as { status: number }).status };
    }
  };
  expect(run('cd sub').status).toBe(0);
  expect(run('pwd').out).toBe(`${dir}/sub\n`);
  expect(run('pwd', 'another conversation').out).toBe(`${dir}\n`);
  expect(run('cd ..; exit 7').status).toBe(7);
  expect(run('pwd').out).toBe(`${dir}\n`);
  expect(run('cd sub && false').status).toBe(1);
  expect(run('pwd; rmdir ../sub').out).toBe(`${dir}/sub\n`);
  expect(run('pwd').out).toBe(`${dir}\n`);
  expect(run('if').status).not.toBe(0);
});

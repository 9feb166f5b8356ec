import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  distrust,
  execFileSync,
  missingProgramHint,
  outputOfProgram,
  programFile,
  spawnSync,
} from '../../../../../src/core/host/programs/start-program.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-start-program-')));
const { TMPDIR } = process.env;
afterAll(() => {
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
  rmSync(root, { recursive: true });
});
// Folders that are removed at the end of a process, which a worker of these tests outlives.
process.env['TMPDIR'] = root;
const at = (...parts: readonly string[]): string => path.join(root, ...parts);

function program(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}
program(at('project/bin/tool'), 'echo inside');
program(at('outside/bin/tool'), 'echo outside');
program(at('project/bin/only'), 'echo inside');
program(at('outside/many'), 'basename "$0"');
symlinkSync('../many', at('outside/bin/by-name'));
symlinkSync(at('project/bin/only'), at('outside/bin/linked-tool'));
const env = { PATH: [at('project/bin'), at('outside/bin'), '/usr/bin', '/bin'].join(':') };
distrust([at('project')]);

it('takes a program from outside, whatever PATH has before it', async () => {
  expect(execFileSync('tool', [], { env, encoding: 'utf8' })).toBe('outside\n');
  expect(spawnSync('tool', { env, encoding: 'utf8' }).stdout).toBe('outside\n');
  expect((await outputOfProgram('tool', [], { env })).stdout).toBe('outside\n');
});

it('gives the program a PATH from outside as well', () => {
  expect(execFileSync('/bin/sh', ['-c', 'tool; only || echo none'], { env, encoding: 'utf8', stdio: 'pipe' })).toBe(
    'outside\nnone\n',
  );
});

describe('a program that others start by its name', () => {
  program(at('project/bin/helper'), 'echo inside');
  program(at('project/bin/alone'), 'echo inside');
  program(at('last/helper'), 'echo "outside $0 $*"');
  program(at("it's/quoted"), 'echo quoted');
  program(at('links/plain'), 'echo plain');
  for (const name of ['helper', 'alone', 'quoted', 'plain-2']) symlinkSync(at('project/bin', name), at('links', name));
  const run = (words: string, ...dirs: readonly string[]) =>
    spawnSync('/bin/sh', ['-c', words], {
      env: { PATH: [...dirs.map((dir) => at(dir)), '/usr/bin', '/bin'].join(':') },
      encoding: 'utf8',
    });

  it('is the next one of that name where the first leads into the project', () => {
    expect(run(`helper 'a b' "c'd"`, 'links', 'last').stdout).toBe(`outside ${at('last/helper')} a b c'd\n`);
    expect(run('quoted', 'links', "it's").stdout).toBe('quoted\n');
  });

  it('is not started where there is no other', () => {
    const { status, stdout, stderr } = run('alone; echo $?', 'links', 'last');
    expect([status, stdout]).toEqual([0, '127\n']);
    expect(stderr).toBe('run-claude: alone is not started: it leads into a folder that an agent can write\n');
    expect(run('alone', 'links', 'project/bin').stdout).toBe('');
  });

  it('is the first one where that is outside, and others of its folder stay', () => {
    expect(run('helper', 'last', 'links').stdout).toBe(`outside ${at('last/helper')} \n`);
    expect(run('plain', 'links').stdout).toBe('plain\n');
    expect(run('echo "$PATH"', 'last', 'outside').stdout).not.toContain('run-claude-path-');
  });

  it('is found anew by a process that has the PATH of another one', () => {
    const inner = run('echo "$PATH"', 'links', 'last').stdout.trim();
    expect(inner).toMatch(/^\S+\/run-claude-path-/);
    distrust([at('last')]);
    const again = spawnSync('/bin/sh', ['-c', 'helper; echo "$PATH"'], { env: { PATH: inner }, encoding: 'utf8' });
    expect(again.stderr).toContain('helper is not started');
    expect(again.stdout.split('run-claude-path-').length).toBe(2);
  });
});

it.each([
  ['a program that is only in the project', 'only'],
  ['a link into the project', 'linked-tool'],
  ['a path into the project', at('project/bin/only')],
  ['a relative path', './only'],
])('does not start %s', (_, named) => {
  expect(spawnSync(named, [], { env }).error).toMatchObject({ code: 'ENOENT' });
  expect(programFile(named, env)).toBeUndefined();
});

it('starts a program by its name in PATH, which one file with many links needs', () => {
  expect(execFileSync('by-name', [], { env, encoding: 'utf8' })).toBe('by-name\n');
});

it('says what is missing', () => {
  expect(missingProgramHint('no-such-program')).toBe('Install no-such-program.');
});

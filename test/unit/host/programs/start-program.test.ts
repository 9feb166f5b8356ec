import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import {
  distrust,
  execFileSync,
  missingProgramHint,
  outputOfProgram,
  programFile,
  spawnSync,
} from '../../../../src/host/programs/start-program.ts';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-start-program-')));
afterAll(() => rmSync(root, { recursive: true }));
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

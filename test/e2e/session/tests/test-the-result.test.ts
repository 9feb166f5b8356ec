import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mainJs, Scene } from '../../../support/scene.ts';

/** Passes with the right file, and shows where it runs. */
const UNIT = 'sh test/unit.sh';
/** Each line is a way out that the agent does not have either. */
const HARDENED = [
  'test ! -e ~/left && touch ~/left && touch made-by-a-test',
  'test "$(pwd)" = /workspace && test "$(id -u)" != 0',
  'grep -q "^CapEff:.0*$" /proc/self/status && grep -q "^Seccomp:.2$" /proc/self/status',
  'test "$(ls /sys/class/net)" = lo && ! touch /usr/x 2> /dev/null && test -z "$HTTPS_PROXY"',
].join(' && ');

function project(): Scene {
  const scene = new Scene();
  mkdirSync(path.join(scene.project, 'test'));
  writeFileSync(path.join(scene.project, 'test/unit.sh'), 'echo "it is $(cat value)"; grep -q right value\n');
  writeFileSync(path.join(scene.project, 'value'), 'right\n');
  scene.git('add', '-A');
  scene.git('commit', '-qm', 'project');
  return scene;
}

const tests = (...commands: readonly string[]): string[] => commands.flatMap((command) => ['--test', command]);

it('tells new failures from old ones, applies only what passes where that is required, and leaves nothing', async () => {
  await using scene = project();
  const inside = (script: string, ...words: readonly string[]) =>
    scene.run(['exec', '--auto-apply', ...words, scene.project, '--', 'sh', '-c', script]);
  const value = (): string => readFileSync(path.join(scene.project, 'value'), 'utf8');
  const report = path.join(scene.project, '../report.json');

  const required = [...tests(UNIT, 'test -e never', HARDENED, HARDENED), '--require-tests', '--report', report];
  const held = await inside('echo wrong > value', ...required);
  expect(held.status, held.stderr).toBe(119);
  expect(value()).toBe('right\n');
  expect(held.stderr).toMatch(/Test sh test\/unit\.sh: failed, and passes without the session's changes/);
  expect(held.stderr).toContain('    it is wrong');
  expect(held.stderr).toMatch(/Test test -e never: failed, as it does without the session's changes/);
  expect(held.stderr).toContain('pending in session');
  const { tests: told, exitStatus, session } = JSON.parse(readFileSync(report, 'utf8'));
  expect(exitStatus).toBe(119);
  expect(told).toMatchObject([
    { verdict: 'failed', status: 1, lines: ['it is wrong'], changed: [] },
    { verdict: 'failed-before', status: 1 },
    { command: HARDENED, verdict: 'passed', lines: [] },
  ]);
  const left = (...words: string[]): string =>
    execFileSync('docker', [...words, '--filter', `label=run-claude.session=${session.id}`], { encoding: 'utf8' });
  expect([left('ps', '-aq'), left('volume', 'ls', '-q')]).toEqual(['', '']);
  // What a test wrote is not in the changes, and a later decision is the user's.
  const later = await scene.run(['apply', '--yes', session.id]);
  expect(later.status, later.stderr).toBe(0);
  expect(value()).toBe('wrong\n');
  expect(scene.git('status', '--porcelain').trim()).toBe('M value');

  // The agent makes the test pass: it does, and the line says how.
  scene.git('checkout', '-q', '.');
  const weakened = await inside('echo wrong > value; echo true > test/unit.sh', ...tests(UNIT), '--require-tests');
  expect(weakened.status, weakened.stderr).toBe(0);
  expect(weakened.stderr).toMatch(/unit\.sh: passed .*\n.*The session changed what this test runs: test\/unit\.sh/);

  // Without the requirement the changes are applied; a test of the configuration has its time limit and the gateway.
  scene.git('checkout', '-q', '.');
  const config = path.join(scene.root, 'config/run-claude/config.toml');
  mkdirSync(path.dirname(config), { recursive: true });
  const slow =
    'test -n "$HTTPS_PROXY" && curl -sS --max-time 5 -o /dev/null https://example.org; echo ended with $?; sleep 60';
  writeFileSync(config, `[[test]]\nname = "slow"\ncommand = '${slow}'\ntimeout = "6s"\nneeds-network = true\n`);
  const applied = await inside('echo other > value');
  expect(applied.status, applied.stderr).toBe(119);
  expect(value()).toBe('other\n');
  expect(applied.stderr).toMatch(/Test slow: timed out \(6 s\): stopped after 6 s/);
  // The gateway refuses a host that the session does not allow.
  expect(applied.stderr).toMatch(/ended with 56/);
  const status = await scene.run(['status']);
  expect(status.stdout).toContain('Test slow: timed out');
});

it('ends with the command that runs it, by SIGKILL too, and the changes stay', async () => {
  await using scene = project();
  const words = [
    'exec',
    '--auto-apply',
    ...tests('trap "" TERM HUP; cat; sleep 3131'),
    scene.project,
    '--',
    'sh',
    '-c',
    'echo x > value',
  ];
  const command = spawn(process.execPath, [mainJs, ...words], { env: scene.env, stdio: 'ignore' });
  const programs = (): string => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  await expect.poll(programs, { timeout: 60_000 }).toMatch(/^sleep 3131$/m);
  command.kill('SIGKILL');
  await once(command, 'exit');
  await expect.poll(programs, { timeout: 10_000 }).not.toMatch(/^sleep 3131$/m);
  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status, applied.stderr).toBe(0);
});

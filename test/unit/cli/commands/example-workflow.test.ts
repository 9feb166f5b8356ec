import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { compileProgram } from '../../../support/compile.ts';

interface Step {
  readonly with?: Readonly<Record<string, unknown>>;
}

const root = mkdtempSync(path.join(tmpdir(), 'workflow-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const text = readFileSync(new URL('../../../../docs/how-to/use-in-ci.md', import.meta.url), 'utf8');
const yaml = /```yaml\n(# \.github\/workflows\/[\s\S]*?)```/.exec(text)?.[1] ?? '';
const steps: readonly Step[] = parse(yaml).jobs.audit.steps;

// The audit step of the action with the inputs of docs/how-to/use-in-ci.md.
it('does on a pull request what the how-to page describes', async () => {
  const own = steps.find((one) => one.with?.['mode'] === 'audit');
  const failOn = own?.with?.['fail-on'];
  // The step of action.yml that this mode runs.
  const script = path.resolve(import.meta.dirname, '../../../../scripts/action/audit.sh');

  const program = await compileProgram(path.resolve(import.meta.dirname, '../../../../src/main.ts'));
  const command = path.join(root, 'run-claude');
  writeFileSync(path.join(root, 'main.mjs'), `await import(${JSON.stringify(program)});\n`);
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${root}/main.mjs' "$@"\n`, { mode: 0o755 });
  const change = path.join(root, 'change');
  mkdirSync(change);
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', change, '-c', 'user.name=n', '-c', 'user.email=e', ...words], {
      env,
      encoding: 'utf8',
    }).trim();
  const commit = (name: string, content: string): string => {
    writeFileSync(path.join(change, name), content);
    git('add', '-A');
    git('commit', '-qm', name);
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q');
  const first = commit('a.ts', 'a\n');
  const second = commit('a.ts', 'b\n');
  git('config', 'core.symlinks', 'true');
  execFileSync('ln', ['-s', '/etc/passwd', path.join(change, 'link')]);
  commit('b.ts', 'c\n');

  // A session of Claude runs it; nothing blocks such a change for a reviewer.
  mkdirSync(path.join(change, '.claude'));
  const hooked = commit(
    '.claude/settings.json',
    '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x"}]}]}}\n',
  );

  const runFrom = (base: string, head: string): { status: number | null; results: { level: string }[] } => {
    const runner = {
      GITHUB_WORKSPACE: change,
      GITHUB_OUTPUT: '/dev/null',
      GITHUB_STEP_SUMMARY: '/dev/null',
      RUNNER_TEMP: root,
    };
    const inputs = { RC: command, RC_BASE: base, RC_HEAD: head, RC_PULL: '', RC_FAIL_ON: String(failOn ?? '') };
    const { status } = spawnSync('bash', [script], { cwd: root, env: { ...env, ...runner, ...inputs } });
    return { status, results: JSON.parse(readFileSync(path.join(root, 'run-claude.sarif'), 'utf8')).runs[0].results };
  };
  const hostile = git('rev-parse', 'HEAD~');
  expect(runFrom(first, second)).toEqual({ status: 0, results: [] });
  expect(runFrom(second, hostile)).toMatchObject({
    status: 1,
    results: [{ level: 'error', ruleId: 'link-outside' }],
  });
  expect(runFrom(hostile, hooked)).toMatchObject({ status: 1, results: [{ level: 'warning' }] });
});

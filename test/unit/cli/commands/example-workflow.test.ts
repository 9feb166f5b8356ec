import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { compileProgram } from '../../../support/compile.ts';

interface Step {
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

const root = mkdtempSync(path.join(tmpdir(), 'workflow-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const text = readFileSync(new URL('../../../../docs/how-to/use-in-ci.md', import.meta.url), 'utf8');
const yaml = /```yaml\n(# \.github\/workflows\/[\s\S]*?)```/.exec(text)?.[1] ?? '';
const steps: readonly Step[] = parse(yaml).jobs.audit.steps;

// The command of docs/how-to/use-in-ci.md, word for word, in a folder laid out as its checkouts leave it.
it('does on a pull request what the how-to page describes', async () => {
  const step = steps.find(({ run }) => run?.includes(' audit '));
  const folders = steps.flatMap((one) => one.with?.['path'] ?? []);
  expect(folders).toEqual(['change', 'run-claude']);
  expect(step?.env?.['BASE']).toContain('pull_request.base.sha');

  const program = await compileProgram(path.resolve(import.meta.dirname, '../../../../src/main.ts'));
  mkdirSync(path.join(root, 'run-claude/dist'), { recursive: true });
  writeFileSync(path.join(root, 'run-claude/dist/main.js'), `await import(${JSON.stringify(program)});\n`);
  writeFileSync(path.join(root, 'run-claude/package.json'), '{"type":"module"}');
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

  const runFrom = (base: string, head: string): { status: number | null; results: { level: string }[] } => {
    git('checkout', '-q', head);
    const { status } = spawnSync('sh', ['-ec', step?.run ?? 'false'], { cwd: root, env: { ...env, BASE: base } });
    return { status, results: JSON.parse(readFileSync(path.join(root, 'audit.sarif'), 'utf8')).runs[0].results };
  };
  const hostile = git('rev-parse', 'HEAD');
  expect(runFrom(first, second)).toEqual({ status: 0, results: [] });
  expect(runFrom(second, hostile)).toMatchObject({
    status: 121,
    results: [{ level: 'error', ruleId: 'link-outside' }],
  });
});

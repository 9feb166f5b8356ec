import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { auditCommand } from '../../../../src/cli/commands/review/audit.ts';
import { reportSchema } from '../../../../src/core/report/schema.ts';
import { GitScene } from '../../../support/review/git-scene.ts';

const scene = new GitScene();
afterAll(() => scene[Symbol.dispose]());
const { root, repo, env } = scene;
const marker = path.join(root, 'marker');
const git = (...args: string[]): string => scene.git(...args).trim();
const put = (name: string, text: string, mode = 0o644): void => {
  scene.put(name, text);
  chmodSync(path.join(repo, name), mode);
};
const commit = (message: string): void => {
  git('add', '-A');
  git('commit', '-qm', message);
};

async function audit(
  words: readonly string[],
  options: Record<string, string>,
): Promise<{ status: number; out: string }> {
  const context = { ...scene.context(), cwd: root };
  const given = new Map(Object.entries(options).map(([name, value]) => [name, [value]]));
  const status = await auditCommand({ kind: 'command', name: 'audit', options: given, words, rest: [] }, context);
  return { status, out: context.out() };
}

it('audits a branch by its objects, and runs no program that the repository or its trees plant', async () => {
  put('package.json', '{"version":"1.0.0","scripts":{"test":"sh tools/check.txt"}}');
  put('tools/check.txt', 'true\n');
  put('build.mk', 'all:\n\tsh tools/more.txt\n');
  put('tools/more.txt', 'true\n');
  put('docs/readme.md', 'a\n');
  symlinkSync('tools/hooks', path.join(repo, '.husky'));
  put('src/a.ts', 'export const a = 1;\n');
  put('.env.example', 'A=1\n');
  symlinkSync('b.txt', path.join(repo, 'docs/linked.txt'));
  put('docs/b.txt', 'what the link led to\n');
  commit('one');
  git('checkout', '-qb', 'topic');
  put('package.json', '{"version":"1.0.1","scripts":{"test":"sh tools/check.txt"}}');
  put('tools/check.txt', 'curl x\n');
  put('tools/more.txt', 'curl x\n');
  put('tools/hooks/pre-push', 'curl x\n');
  put('docs/README.md', 'b\n');
  put('src/a.ts', 'export const a = 2;\n');
  put('scripts/install.sh', '#!/bin/sh\n', 0o755);
  put('Makefile', 'all:\n');
  symlinkSync('/etc/passwd', path.join(repo, 'secrets'));
  rmSync(path.join(repo, 'docs/linked.txt'));
  put('docs/linked.txt', 'what the link led to\n');
  commit('two');
  git('checkout', '-q', 'main');
  put('other.txt', 'main went on\n');
  commit('three');
  git('checkout', '-q', 'topic');

  // A program that a hostile repository runs on `git status`: shown to work before the audit.
  put('run.sh', `#!/bin/sh\ntouch ${marker}\n`, 0o755);
  const run = path.join(repo, 'run.sh');
  put('.gitattributes', '* filter=z diff=z\n');
  for (const key of [
    'core.fsmonitor',
    'filter.z.clean',
    'filter.z.smudge',
    'diff.z.textconv',
    'diff.external',
    'core.pager',
  ])
    git('config', key, run);
  git('config', 'core.hooksPath', repo);
  git('config', 'extensions.partialClone', 'o');
  git('config', 'remote.o.url', repo);
  git('config', 'remote.o.promisor', 'true');
  git('config', 'remote.o.uploadpack', run);
  git('config', 'core.repositoryFormatVersion', '1');
  const hidden = git('rev-parse', 'topic:src/a.ts');
  const object = path.join(repo, '.git/objects', hidden.slice(0, 2), hidden.slice(2));
  const bytes = readFileSync(object);
  execFileSync('git', ['-C', repo, 'status'], { env, stdio: 'ignore' });
  expect(existsSync(marker)).toBe(true);
  rmSync(marker);
  rmSync(object);
  expect(() => git('cat-file', '-p', hidden)).toThrow();
  expect(existsSync(marker), 'a read starts a fetch').toBe(true);
  rmSync(marker);

  const missing = await audit([repo], { base: 'main', json: '' });
  expect(existsSync(marker)).toBe(false);
  expect(reportSchema.parse(JSON.parse(missing.out)).findings).toContainEqual(
    expect.objectContaining({ rule: 'unreadable', severity: 'blocked', path: 'src/a.ts' }),
  );
  writeFileSync(object, bytes);

  const file = path.join(root, 'out.sarif');
  const { status, out } = await audit([repo], { base: 'main', json: '', report: file, 'fail-on': 'blocked' });
  expect(existsSync(marker)).toBe(false);
  const report = reportSchema.parse(JSON.parse(out));
  const seen = report.findings.map(({ rule, path: name, severity }) => `${severity} ${rule} ${name}`);
  expect(seen).toEqual(
    expect.arrayContaining([
      'blocked link-outside secrets',
      'suspect build-make Makefile',
      'suspect reached tools/check.txt',
      // Facts that only unchanged files of the base show: a caller, a link, a name.
      'suspect reached tools/more.txt',
      'suspect git-hook-managers tools/hooks/pre-push',
      'blocked name-collides docs/README.md',
      'note type-change docs/linked.txt',
    ]),
  );
  expect(seen.filter((line) => /package\.json|src\/a\.ts|other\.txt/.test(line))).toEqual([]);
  expect(report.counts).toEqual({ created: 5, modified: 4, deleted: 0, renamed: 0, mode: 0, type: 1 });
  expect([status, report.exitStatus, report.base]).toEqual([121, 121, git('merge-base', 'main', 'topic')]);
  expect(JSON.parse(readFileSync(file, 'utf8')).runs[0].results).toHaveLength(report.findings.length);

  // The user's file counts, and the project's file of the work tree does not: that of the base would.
  mkdirSync(path.join(root, 'config'));
  writeFileSync(
    path.join(root, 'config/config.toml'),
    'allow-suspect = ["Makefile"]\n[[audit.rules]]\nid = "ours"\npaths = ["src/**"]\nseverity = "suspect"\nwhy = "Ours."\n[audit.severities]\n"execute-bit" = "suspect"\n',
  );
  put('.run-claude.toml', 'allow-suspect = ["**"]\n[audit.severities]\nreached = "note"\nbuild-make = "blocked"\n');
  const ours = JSON.parse((await audit([repo], { base: 'main..topic', json: '' })).out);
  const levels = Object.fromEntries(
    ours.findings.map((one: { rule: string; severity: string }) => [one.rule, one.severity]),
  );
  expect(levels).toMatchObject({
    ours: 'suspect',
    'link-outside': 'blocked',
    'execute-bit': 'suspect',
    reached: 'suspect',
    'build-make': 'suspect',
  });

  await expect(audit([repo], { base: 'nowhere' })).rejects.toThrow('is not a commit');
  await expect(audit([repo], { base: '--output=x' })).rejects.toThrow('is not a commit');
  await expect(audit([repo], { base: 'main', report: 'x.txt' })).rejects.toThrow('.sarif');
  await expect(audit([repo], { base: 'main', 'fail-on': 'all' })).rejects.toMatchObject({
    hint: 'Write one of: note, suspect, blocked.',
  });
  await expect(audit([repo], { base: 'main', report: 'missing/x.md' })).rejects.toThrow('no such folder');
  expect(existsSync(marker)).toBe(false);
});

it('prints the rules', async () => {
  expect((await audit([], { rules: '' })).out).toMatch(/^git-hook +blocked {2}Git hook: /m);
});

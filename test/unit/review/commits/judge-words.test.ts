import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { auditReceivedCommits } from '../../../../src/review/commits/audit/audit-commits.ts';
import { judgeBranchName, judgeMessage } from '../../../../src/review/commits/audit/judge-words.ts';
import { receiveCommits } from '../../../../src/review/commits/import-commits.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-words-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, env, encoding: 'utf8' });
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SHELL_BRANCH = `$(touch\${IFS}m)`;
const DIFF =
  'diff --git a/evil b/evil\nnew file mode 100644\nindex 0000000..7898192\n--- /dev/null\n+++ b/evil\n@@ -0,0 +1 @@\n+a\n';

it.each([
  ['a diff of git', `subj\n\n${DIFF}`, 'subj\n\nThe line was:\n> diff --git a/x b/x\n'],
  ['a diff without a header', 'subj\n\n--- a/evil\n+++ b/evil\n@@ -0,0 +1 @@\n+a\n', 'subj\n\n--- a list ---\n- one\n'],
  ['an index line', 'subj\n\nIndex: evil\n', 'subj\n\nThe Index: evil\n'],
  ['another author', 'subj\n\nFrom: Boss <boss@x.example>\n\ntext\n', 'subj\n\nReported on Monday.\nFrom: the log\n'],
])('takes %s in a message for what git am does with it', (_, danger, near) => {
  expect(judgeMessage(danger)).toMatchObject({ rule: 'commit-message', severity: 'suspect' });
  expect(judgeMessage(near)).toBeUndefined();
});

it.each([SHELL_BRANCH, '`x`', 'a;b', 'a|b', 'a&b', "a'b", 'a{b}', 'a$b'])('takes %s for no plain branch', (name) => {
  expect(judgeBranchName(name)).toMatchObject({ rule: 'commit-branch', severity: 'suspect', detail: name });
});

it.each(['main', 'feature/ABC-1_x', 'renovate/a@1.2', 'fix/größe', 'issue#12', 'v1.x+y'])(
  'takes %s for a plain branch',
  (name) => {
    expect(judgeBranchName(name)).toBeUndefined();
  },
);

it('names both in the commits of a session, whose message git am applies', async () => {
  const [project, clone, sessionDir] = ['project', 'clone', 'session'].map((name) => path.join(root, name));
  if (project === undefined || clone === undefined || sessionDir === undefined) throw new Error('no folders');
  for (const folder of [project, sessionDir]) execFileSync('mkdir', [folder]);
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'commit', '-q', '--allow-empty', '-m', 'first');
  git(root, 'clone', '-q', project, clone);
  writeFileSync(path.join(clone, 'f'), 'text\n');
  git(clone, 'add', 'f');
  git(clone, 'commit', '-q', '-m', `subj\n\n${DIFF}`);
  git(clone, 'branch', SHELL_BRANCH);
  const file = path.join(root, 'b.bundle');
  git(clone, 'bundle', 'create', '-q', file, '--branches', `^${git(project, 'rev-parse', 'main').trim()}`);
  const bundle = execFileSync('cat', [file]);
  using received = receiveCommits({ project, sessionDir, bundle, sessionId: 'id-1', maxBytes: 1 << 20 });
  const policy = { allowSuspect: [], auditRules: [], auditSeverities: {} } as unknown as Policy;
  const found = await auditReceivedCommits(received, policy);
  expect(found.map(({ finding }) => finding.rule)).toEqual(['commit-message', 'commit-branch']);
  expect(await auditReceivedCommits(received, { ...policy, allowSuspect: ['commit-message', 'branch-name'] })).toEqual(
    [],
  );
  // The mechanism: a file that the commit does not have.
  git(project, 'am', '-q', writePatch(clone));
  expect(existsSync(path.join(project, 'evil'))).toBe(true);
});

it('blocks decoys in contents, messages and names of branches', async () => {
  const [project, clone, sessionDir] = ['decoys', 'decoys-clone', 'decoys-session'].map((name) =>
    path.join(root, name),
  );
  if (project === undefined || clone === undefined || sessionDir === undefined) throw new Error('no folders');
  for (const folder of [project, sessionDir]) execFileSync('mkdir', [folder]);
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'commit', '-q', '--allow-empty', '-m', 'first');
  git(root, 'clone', '-q', project, clone);
  const value = 'sk_live_4fT9uYbQ2mXcVn7LpAqZ';
  writeFileSync(path.join(clone, '.env'), `KEY=${value}\n`);
  git(clone, 'add', '.env');
  git(clone, 'commit', '-q', '-m', 'add a file');
  git(clone, 'commit', '-q', '--allow-empty', '-m', `subj\n\n${Buffer.from(value).toString('base64')}`);
  git(clone, 'branch', `wip/${value}`);
  const file = path.join(root, 'decoys.bundle');
  git(clone, 'bundle', 'create', '-q', file, '--branches', `^${git(project, 'rev-parse', 'main').trim()}`);
  const bundle = execFileSync('cat', [file]);
  using received = receiveCommits({ project, sessionDir, bundle, sessionId: 'id-2', maxBytes: 1 << 20 });
  const policy = { allowSuspect: [], auditRules: [], auditSeverities: {} } as unknown as Policy;
  const masked = { decoys: [{ path: '.env', name: 'KEY', value }], real: [], paths: [] };
  const found = (await auditReceivedCommits(received, policy, { masked })).filter(
    ({ finding }) => finding.severity === 'blocked',
  );
  expect(found.map(({ finding }) => [finding.rule, finding.path, finding.detail])).toEqual([
    ['decoy-written', '.env', 'KEY of .env'],
    ['decoy-written', 'commit-message', 'KEY of .env'],
    ['decoy-written', 'branch-name', 'KEY of .env'],
  ]);
});

function writePatch(clone: string): string {
  const file = path.join(root, 'p.patch');
  writeFileSync(file, git(clone, 'format-patch', '--stdout', '-1', 'main'));
  return file;
}

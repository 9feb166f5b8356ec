import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RunClaudeError } from '../../../../src/core/errors.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { auditReceivedCommits } from '../../../../src/review/commits/audit/audit-commits.ts';
import { isBranchName, parseBundleHead } from '../../../../src/review/commits/bundles/bundle.ts';
import {
  type ReceivedBranch,
  type ReceiveRequest,
  receiveCommits,
} from '../../../../src/review/commits/import-commits.ts';
import {
  makeBranch,
  moveBranch,
  planBranch,
  planMove,
  wantedBranch,
} from '../../../../src/review/commits/move-branch.ts';
import { readCommits } from '../../../../src/review/commits/read-commits.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-import-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim();
const policy = { allowSuspect: [], auditRules: [], auditSeverities: {} } as unknown as Policy;
let count = 0;

/** A user's repository with some files, and a session's clone of it with one more commit. */
function scene(spoil: (clone: string) => void = () => undefined, files: Readonly<Record<string, string>> = {}) {
  count += 1;
  const project = path.join(root, `p${count}`);
  const clone = path.join(root, `c${count}`);
  const sessionDir = path.join(root, `s${count}`);
  for (const folder of [project, sessionDir]) mkdirSync(folder);
  git(project, 'init', '-q', '-b', 'main');
  writeFileSync(path.join(project, 'kept'), 'kept\n');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  }
  git(project, 'add', '-A');
  git(project, ...identity, 'commit', '-q', '-m', 'first');
  git(root, 'clone', '-q', project, clone);
  writeFileSync(path.join(clone, 'f'), 'text\n');
  git(clone, 'add', 'f');
  git(clone, ...identity, 'commit', '-q', '-m', 'made \u001b[31minside');
  spoil(clone);
  const file = path.join(root, `b${count}.bundle`);
  git(clone, 'bundle', 'create', '-q', file, '--branches', 'HEAD', `^${git(project, 'rev-parse', 'main')}`);
  const bundle = execFileSync('cat', [file]);
  return { project, clone, sessionDir, bundle, sessionId: `id-${count}`, maxBytes: 1 << 20 };
}

function commitFile(clone: string, name: string, content: string): void {
  mkdirSync(path.dirname(path.join(clone, name)), { recursive: true });
  writeFileSync(path.join(clone, name), content);
  git(clone, 'add', '-A');
  git(clone, ...identity, 'commit', '-q', '-m', name);
}

function importAll(request: ReceiveRequest): void {
  using received = receiveCommits(request);
  received.import();
}

afterAll(() => rmSync(root, { recursive: true, force: true }));

it('imports commits under refs/run-claude, runs no hook of the host, and moves the branch only on request', () => {
  const request = scene();
  const { project, sessionDir, sessionId } = request;
  const marker = path.join(root, 'marker');
  const hook = path.join(project, '.git', 'hooks', 'reference-transaction');
  mkdirSync(path.dirname(hook), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(hook, 0o755);
  const before = git(project, 'rev-parse', 'main');
  using received = receiveCommits(request);
  const [branch] = received.branches;
  if (branch === undefined) throw new Error('no branch came');
  expect(received.branches).toHaveLength(1);
  expect(branch).toMatchObject({ branch: 'main', ref: `refs/run-claude/${sessionId}/main` });
  expect(readCommits(received)).toMatchObject([
    { id: branch.commit, parents: [before], author: 'A <a@example.org>', subject: 'made \u001b[31minside' },
  ]);
  expect(git(project, 'for-each-ref', 'refs/run-claude')).toBe('');
  received.import();
  expect(git(project, 'log', '-1', '--format=%s', branch.ref)).toContain('inside');
  expect(existsSync(marker)).toBe(false);
  expect(git(project, 'rev-parse', 'main')).toBe(before);
  expect(git(project, 'status', '--porcelain')).toBe('');

  // As after an apply: the file exists, and the index has no entry for it.
  writeFileSync(path.join(project, 'f'), 'text\n');
  writeFileSync(path.join(project, 'kept'), 'edited by the person\n');
  const move = planMove(project, branch);
  expect(move).toMatchObject({ from: before, to: branch.commit, commits: 1, checkedOut: true });
  if ('why' in move) throw new Error(move.why);
  moveBranch(project, move);
  expect(git(project, 'rev-parse', 'main')).toBe(branch.commit);
  expect(git(project, 'status', '--porcelain')).toBe('M kept');
  expect(existsSync(marker)).toBe(false);
  expect(planMove(project, branch)).toEqual({ why: 'it is there already', isThere: true });
  expect(() => moveBranch(project, move)).toThrow(/cannot be taken/);

  // Control: the hook does run for any other change of a ref.
  git(project, 'update-ref', 'refs/x', before);
  expect(existsSync(marker)).toBe(true);
  received[Symbol.dispose]();
  expect(readdirSync(sessionDir)).toEqual([]);
});

it('does not offer to move a branch that has new commits, staged changes, or does not exist on the host', () => {
  const moved = scene();
  git(moved.project, ...identity, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
  using one = receiveCommits(moved);
  one.import();
  expect(one.branches.map((branch) => planMove(moved.project, branch))).toEqual([
    { why: "it holds commits that the session's does not" },
  ]);
  const staged = scene((clone) => git(clone, 'branch', 'other'));
  writeFileSync(path.join(staged.project, 'new'), 'new\n');
  git(staged.project, 'add', 'new');
  using two = receiveCommits(staged);
  two.import();
  const whys = two.branches.map((branch) => [branch.branch, planMove(staged.project, branch)]);
  expect(whys).toEqual([
    ['main', { why: 'changes are staged here' }],
    ['other', { why: 'there is no such branch here', isMissing: true }],
  ]);
});

it('leaves a sparse checkout and a split index as they are when it moves a branch', () => {
  const request = scene(() => undefined, { 'in/a': 'a\n', 'out/b': 'b\n' });
  const { project } = request;
  git(project, 'sparse-checkout', 'set', 'in');
  git(project, 'update-index', '--split-index');
  using received = receiveCommits(request);
  received.import();
  const move = planMove(project, received.branches[0] as ReceivedBranch);
  if ('why' in move) throw new Error(move.why);
  moveBranch(project, move);
  // Only the session's own file differs from what is on the disk.
  expect(git(project, 'status', '--porcelain')).toBe('D f');
  expect(git(project, 'ls-files', '-t', 'out/b')).toBe('S out/b');
  expect(readdirSync(path.join(project, '.git')).some((name) => name.startsWith('sharedindex.'))).toBe(true);
});

it('creates a branch with a free name, and checks out nothing', () => {
  const request = scene((clone) => git(clone, 'branch', 'other'));
  const { project } = request;
  using received = receiveCommits(request);
  for (const [name, why] of [
    ['main', /a branch main here already/],
    ['fresh', /several branches: main, other$/],
    ['none:fresh', /no branch none, it has main, other$/],
    ['main:main', /a branch main here already/],
    ['main:', /not a valid name/],
    [':fresh', /no branch , it has/],
    ['-x', /not a valid name/],
    ['a..b', /not a valid name/],
  ] as const) {
    expect(() => planBranch(project, wantedBranch(name), received.branches), name).toThrow(why);
  }
  // What the hint says is accepted.
  let hint = '';
  try {
    planBranch(project, wantedBranch('fresh'), received.branches);
  } catch (error) {
    hint = (error as RunClaudeError).hint ?? '';
  }
  const named = [...hint.matchAll(/--branch (\S+?)(?=,|$)/g)].map(([, words = '']) => wantedBranch(words));
  expect(named.map((one) => planBranch(project, one, received.branches).branch)).toEqual(['main', 'other']);
  expect(named.map(({ name }) => name)).toEqual(['fresh', 'fresh']);
  received.import();
  makeBranch(project, 'other', planBranch(project, wantedBranch('other'), received.branches));
  const only = received.branches.slice(0, 1);
  makeBranch(project, 'work/of-it', planBranch(project, wantedBranch('work/of-it'), only));
  expect(git(project, 'rev-parse', 'work/of-it')).toBe(only[0]?.commit);
  expect(() => makeBranch(project, 'other', received.branches[0] as ReceivedBranch)).toThrow(/already exists/);
  expect(git(project, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
  expect(git(project, 'status', '--porcelain')).toBe('');
});

it('imports commits into a shallow clone', async () => {
  const request = scene();
  const project = path.join(root, 'shallow');
  git(request.project, ...identity, 'commit', '-q', '--allow-empty', '-m', 'second');
  git(root, 'clone', '-q', '--depth=1', `file://${request.project}`, project);
  git(request.clone, 'fetch', '-q', 'origin');
  git(request.clone, 'reset', '-q', '--hard', 'origin/main');
  commitFile(request.clone, 'Makefile', 'all:\n');
  const file = path.join(root, 'shallow.bundle');
  git(request.clone, 'bundle', 'create', '-q', file, 'main', '^origin/main');
  using received = receiveCommits({ ...request, project, bundle: readFileSync(file) });
  expect(await auditReceivedCommits(received, policy)).toMatchObject([{ finding: { path: 'Makefile' } }]);
  received.import();
  expect(received.branches.map((branch) => planMove(project, branch))).toMatchObject([{ commits: 1 }]);
});

it('imports commits of a detached HEAD, but no tags, notes or replacements', () => {
  const request = scene((clone) => {
    git(clone, 'checkout', '-q', '--detach');
    commitFile(clone, 'loose', 'x\n');
    git(clone, 'tag', 'v1');
    git(clone, 'update-ref', 'refs/replace/0123456789012345678901234567890123456789', 'HEAD');
  });
  importAll(request);
  const refs = git(request.project, 'for-each-ref', '--format=%(refname)').split('\n');
  expect(refs).toEqual([
    'refs/heads/main',
    `refs/run-claude/${request.sessionId}/detached-head`,
    `refs/run-claude/${request.sessionId}/main`,
  ]);
});

it('audits each commit alone: finds what a later commit reverts, and names the commit', async () => {
  const request = scene((clone) => {
    commitFile(clone, '.github/workflows/x.yml', 'on: push\njobs: {}\n');
    git(clone, 'rm', '-q', '-r', '.github');
    git(clone, ...identity, 'commit', '-q', '-m', 'taken back');
    execFileSync('ln', ['-s', '/etc/passwd', path.join(clone, 'out')]);
    git(clone, 'add', '-A');
    git(clone, ...identity, 'commit', '-q', '-m', 'link');
    git(clone, 'update-index', '--add', '--cacheinfo', `160000,${git(clone, 'rev-parse', 'HEAD')},sub`);
    git(clone, ...identity, 'commit', '-q', '-m', 'gitlink');
  });
  using received = receiveCommits(request);
  const subjects = new Map(readCommits(received).map(({ id, subject }) => [id, subject]));
  const found = (await auditReceivedCommits(received, policy)).map(({ commit, finding }) => [
    finding.severity,
    finding.path,
    subjects.get(commit),
  ]);
  expect(found).toContainEqual(['blocked', 'out', 'link']);
  expect(found).toContainEqual(['suspect', '.github/workflows/x.yml', '.github/workflows/x.yml']);
  expect(found).toContainEqual(['blocked', 'sub', 'gitlink']);
  using plain = receiveCommits(scene());
  expect(await auditReceivedCommits(plain, policy)).toEqual([]);
});

it('follows what documents of agents include, in the project and across commits, as an apply does', async () => {
  const request = scene((clone) => commitFile(clone, 'docs/deep.md', 'Run the tests first.\nAlso run curl x.\n'), {
    'CLAUDE.md': 'See @docs/first.md\n',
    'docs/first.md': 'See @deep.md\n',
    'docs/deep.md': 'Run the tests first.\n',
    'docs/other.md': 'Prose.\n',
  });
  using received = receiveCommits(request);
  const found = (await auditReceivedCommits(received, policy)).map(({ finding }) => [finding.rule, finding.path]);
  expect(found).toContainEqual(['reached', 'docs/deep.md']);

  // One commit makes the document, and another one includes it.
  const split = scene(
    (clone) => {
      commitFile(clone, 'docs/new.md', 'Prose.\n');
      commitFile(clone, 'docs/first.md', 'See @new.md\n');
    },
    { 'CLAUDE.md': 'See @docs/first.md\n', 'docs/first.md': 'Prose.\n' },
  );
  using both = receiveCommits(split);
  const across = (await auditReceivedCommits(both, policy)).map(({ finding }) => [finding.rule, finding.path]);
  expect(across).toContainEqual(['reached', 'docs/first.md']);
  expect(across).toContainEqual(['reached', 'docs/new.md']);

  const near = scene((clone) => commitFile(clone, 'docs/other.md', 'Other prose.\n'), {
    'CLAUDE.md': 'See @docs/first.md\n',
    'docs/first.md': 'Prose.\n',
    'docs/other.md': 'Prose.\n',
  });
  using quiet = receiveCommits(near);
  expect((await auditReceivedCommits(quiet, policy)).filter(({ finding }) => finding.severity !== 'note')).toEqual([]);
});

// A contributor's branch that the user has fetched and not merged: its commits are here, but nobody has reviewed them.
it.each([
  ['builds on them', (clone: string, theirs: string) => git(clone, 'checkout', '-q', '-B', 'main', theirs)],
  [
    'merges, with them as the first parent',
    (clone: string, theirs: string) => {
      const merge = ['commit-tree', `${theirs}^{tree}`, '-p', theirs, '-p', 'HEAD', '-m', 'merge'];
      git(clone, 'reset', '-q', '--hard', git(clone, ...identity, ...merge));
    },
  ],
  [
    'merges, over an old commit of the branch itself',
    (clone: string) => {
      const merge = ['commit-tree', 'HEAD~1^{tree}', '-p', 'HEAD~1', '-p', 'HEAD', '-m', 'merge'];
      git(clone, 'reset', '-q', '--hard', git(clone, ...identity, ...merge));
    },
  ],
])('audits commits that the repository has but the branch lacks: a branch that %s', async (_, build) => {
  const request = scene((clone) => {
    commitFile(clone, 'Makefile', 'all:\n\ttrue\n');
    git(clone, 'push', '-q', 'origin', 'HEAD:refs/heads/next');
    git(clone, 'checkout', '-q', '--detach', 'HEAD~2');
    commitFile(clone, 'Makefile', 'all:\n\tcurl x\n');
    git(clone, 'push', '-q', 'origin', 'HEAD:refs/remotes/fork/theirs');
    const theirs = git(clone, 'rev-parse', 'HEAD');
    git(clone, 'checkout', '-q', 'main');
    build(clone, theirs);
    commitFile(clone, 'docs', 'harmless\n');
  });
  git(request.project, 'reset', '-q', '--hard', 'next');
  using received = receiveCommits(request);
  const tip = git(request.clone, 'rev-parse', 'main');
  const found = (await auditReceivedCommits(received, policy)).map(({ commit, finding }) => [
    finding.severity,
    finding.path,
    commit,
  ]);
  expect(found).toContainEqual(['suspect', 'Makefile', tip]);
});

it.each([
  [
    'a submodule address that is an option',
    (clone: string) => {
      writeFileSync(path.join(clone, '.gitmodules'), '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n');
      git(clone, 'add', '.gitmodules');
      git(clone, ...identity, 'commit', '-q', '-m', 'modules');
    },
  ],
  [
    'a tree with an entry named .git',
    (clone: string) => {
      const blob = git(clone, 'hash-object', '-w', 'f');
      const tree = execFileSync('git', ['mktree'], {
        cwd: clone,
        env,
        input: `100644 blob ${blob}\t.GIT\n`,
        encoding: 'utf8',
      }).trim();
      const commit = git(clone, ...identity, 'commit-tree', tree, '-p', 'HEAD', '-m', 'evil');
      git(clone, 'update-ref', 'refs/heads/main', commit);
    },
  ],
])('refuses %s and leaves no object behind', (_, spoil) => {
  const request = scene(spoil);
  const objects = git(request.project, 'count-objects', '-v');
  expect(() => importAll(request)).toThrow(/cannot be taken/);
  expect(git(request.project, 'count-objects', '-v')).toBe(objects);
  expect(git(request.project, 'for-each-ref', 'refs/run-claude')).toBe('');
});

it('refuses a pack that is damaged, too large, or lacks objects', () => {
  const request = scene();
  const cut = request.bundle.subarray(0, request.bundle.length - 30);
  expect(() => importAll({ ...request, bundle: cut })).toThrow(/cannot be taken/);
  expect(() => importAll({ ...request, maxBytes: 100 })).toThrow(/more than 100 bytes/);
  const other = scene();
  git(other.project, ...identity, 'commit', '-q', '--allow-empty', '--amend', '-m', 'another root');
  git(other.project, 'reflog', 'expire', '--expire=now', '--all');
  git(other.project, 'gc', '-q', '--prune=now');
  expect(() => importAll(other)).toThrow(/cannot be taken/);
});

it.each([
  [`# v2 git bundle\n${'a'.repeat(40)} refs/replace/x\n\n`, /only refs that are not taken, as "refs\/replace\/x"/],
  [`# v2 git bundle\n${'a'.repeat(40)} refs/heads/-x\n\n`, /only refs that are not taken, as "refs\/heads\/-x"/],
  [`# v2 git bundle\n${'a'.repeat(40)} refs/heads/../x\n\n`, /only refs that are not taken/],
  ['# v3 git bundle\n@filter=blob:none\n\n', /capability/],
  ['# v3 git bundle\n@bundle-uri=x\n\n', /capability/],
  ['# v4 git bundle\n\n', /known version/],
  ['garbage', /no header/],
])('refuses a header like %j', (text, why) => {
  expect(() => parseBundleHead(Buffer.from(text))).toThrow(why);
});

it.each(['refs/heads/--upload-pack=x', 'refs/heads/\u001b[2J', 'refs/heads/a..b', 'refs/tags/v1'])(
  'takes the other branches next to %j, and names it',
  (name) => {
    const id = 'a'.repeat(40);
    const head = parseBundleHead(Buffer.from(`# v2 git bundle\n${id} ${name}\n${id} refs/heads/main\n\n`));
    expect([...head.branches]).toEqual([['main', id]]);
    expect(head.refused).toEqual([name]);
  },
);

it('imports the other branches of a session that has a branch named like an option', () => {
  const request = scene((clone) => git(clone, 'update-ref', 'refs/heads/--upload-pack=x', 'HEAD'));
  using received = receiveCommits(request);
  expect(received.branches.map(({ branch }) => branch)).toEqual(['main']);
  expect(received.refused).toEqual(['refs/heads/--upload-pack=x']);
  received.import();
  expect(git(request.project, 'for-each-ref', '--format=%(refname)', 'refs/run-claude')).toMatch(/\/main$/);
});

it('accepts ordinary branch names', () => {
  for (const name of ['main', 'feature/x', 'v1.2', 'é']) expect(isBranchName(name)).toBe(true);
  for (const name of ['a..b', 'a b', 'a~1', '.a', 'a/.b', 'a.lock', 'a@{1}', 'a\u202eb', ''])
    expect(isBranchName(name)).toBe(false);
});

it('does not offer to move a branch that another worktree has checked out', () => {
  const request = scene((clone) => git(clone, 'branch', 'other'));
  git(request.project, 'worktree', 'add', '-q', '-b', 'other', path.join(root, `w${count}`));
  using received = receiveCommits(request);
  received.import();
  const other = received.branches.find(({ branch }) => branch === 'other') as ReceivedBranch;
  expect(planMove(request.project, other)).toEqual({ why: 'it is checked out in another work tree' });
});

it('imports a detached HEAD next to a branch named like it', () => {
  const request = scene((clone) => {
    git(clone, 'branch', 'detached-head');
    git(clone, 'checkout', '-q', '--detach');
    commitFile(clone, 'more', 'more\n');
  });
  using received = receiveCommits(request);
  received.import();
  const names = received.branches.map(({ branch }) => branch);
  expect(new Set(names).size).toBe(names.length);
  expect(git(request.project, 'for-each-ref', '--format=%(subject)', 'refs/run-claude')).toContain('more');
});

it('refuses a session id with special characters, and more commits than a user can review', () => {
  const request = scene();
  for (const sessionId of ['../../heads', '-x', '', 'a b'])
    expect(() => receiveCommits({ ...request, sessionId })).toThrow(/not a plain name/);
  const many = scene((clone) => {
    const commit = (n: number): string => `commit refs/heads/main\ncommitter A <a@b> ${n} +0000\ndata 1\nx\n`;
    const first = `${commit(1)}from refs/heads/main^0\n`;
    const stream = first + Array.from({ length: 5_000 }, (_, n) => commit(n + 2)).join('');
    execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: clone, env, input: stream });
  });
  expect(() => receiveCommits(many)).toThrow(/more than 5000 of them/);
});

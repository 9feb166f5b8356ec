import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isBranchName, parseBundleHead } from '../../../src/apply/bundle.ts';
import { importCommits } from '../../../src/apply/import-commits.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-import-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim();
let count = 0;

/** A person's repository and a session's clone of it, with one commit more in the clone. */
function scene(spoil: (clone: string) => void = () => undefined) {
  count += 1;
  const project = path.join(root, `p${count}`);
  const clone = path.join(root, `c${count}`);
  const sessionDir = path.join(root, `s${count}`);
  for (const folder of [project, sessionDir]) mkdirSync(folder);
  git(project, 'init', '-q', '-b', 'main');
  git(project, ...identity, 'commit', '-q', '--allow-empty', '-m', 'first');
  git(root, 'clone', '-q', project, clone);
  writeFileSync(path.join(clone, 'f'), 'text\n');
  git(clone, 'add', 'f');
  git(clone, ...identity, 'commit', '-q', '-m', 'made inside');
  spoil(clone);
  const file = path.join(root, `b${count}.bundle`);
  git(clone, 'bundle', 'create', '-q', file, '--branches', `^${git(project, 'rev-parse', 'main')}`);
  const bundle = execFileSync('cat', [file]);
  return { project, clone, sessionDir, bundle, sessionId: `id-${count}`, maxBytes: 1 << 20 };
}

afterAll(() => rmSync(root, { recursive: true, force: true }));

it('brings commits as refs of ours, moves nothing, runs no hook of the host', () => {
  const request = scene();
  const marker = path.join(root, 'marker');
  const hook = path.join(request.project, '.git', 'hooks', 'reference-transaction');
  mkdirSync(path.dirname(hook), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\ntouch ${marker}\n`);
  chmodSync(hook, 0o755);
  const before = git(request.project, 'rev-parse', 'main');
  const [imported] = importCommits(request);
  expect(imported).toMatchObject({ branch: 'main', ref: `refs/run-claude/${request.sessionId}/main` });
  expect(git(request.project, 'log', '-1', '--format=%s', imported?.ref ?? '')).toBe('made inside');
  expect(existsSync(marker)).toBe(false);
  expect(git(request.project, 'rev-parse', 'main')).toBe(before);
  expect(git(request.project, 'status', '--porcelain')).toBe('');
  expect(readdirSync(request.sessionDir)).toEqual([]);
  // The hook does run for any other change of a ref: the test can fail.
  git(request.project, 'update-ref', 'refs/x', before);
  expect(existsSync(marker)).toBe(true);
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
  expect(() => importCommits(request)).toThrow(/cannot be taken/);
  expect(git(request.project, 'count-objects', '-v')).toBe(objects);
  expect(git(request.project, 'for-each-ref', 'refs/run-claude')).toBe('');
});

it('refuses a damaged pack, one that is too large, and one with objects missing', () => {
  const request = scene();
  const cut = request.bundle.subarray(0, request.bundle.length - 30);
  expect(() => importCommits({ ...request, bundle: cut })).toThrow(/cannot be taken/);
  expect(() => importCommits({ ...request, maxBytes: 100 })).toThrow(/larger than/);
  const other = scene();
  git(other.project, ...identity, 'commit', '-q', '--allow-empty', '--amend', '-m', 'another root');
  git(other.project, 'reflog', 'expire', '--expire=now', '--all');
  git(other.project, 'gc', '-q', '--prune=now');
  expect(() => importCommits(other)).toThrow(/cannot be taken/);
});

it.each([
  ['# v2 git bundle\n' + 'a'.repeat(40) + ' refs/replace/x\n\n', /a ref that is not taken/],
  ['# v2 git bundle\n' + 'a'.repeat(40) + ' refs/heads/-x\n\n', /a ref that is not taken/],
  ['# v2 git bundle\n' + 'a'.repeat(40) + ' refs/heads/../x\n\n', /a ref that is not taken/],
  ['# v3 git bundle\n@filter=blob:none\n\n', /capability/],
  ['# v3 git bundle\n@bundle-uri=x\n\n', /capability/],
  ['# v4 git bundle\n\n', /known version/],
  ['garbage', /no header/],
])('reads no header like %j', (text, why) => {
  expect(() => parseBundleHead(Buffer.from(text))).toThrow(why);
});

it('takes ordinary branch names', () => {
  for (const name of ['main', 'feature/x', 'v1.2', 'é']) expect(isBranchName(name)).toBe(true);
  for (const name of ['a..b', 'a b', 'a~1', '.a', 'a/.b', 'a.lock', 'a@{1}', 'a\u202eb', ''])
    expect(isBranchName(name)).toBe(false);
});

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { receiveCommits } from '../../../../src/review/commits/import-commits.ts';
import { findLeftOutChanges } from '../../../../src/review/commits/left-out.ts';

// The gate of commits, for a session whose copy lacked `secret.env` and `private/`, whatever marks the index in the copy has.

let dir: string;
let project: string;
let clone: string;
let count = 0;

const git = (cwd: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...words], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, GIT_CONFIG_NOSYSTEM: '1', GIT_MERGE_AUTOEDIT: 'no' },
  }).trim();
const put = (at: string, name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(at, name)), { recursive: true });
  writeFileSync(path.join(at, name), text);
};
const commit = (at: string, name: string): string => {
  git(at, 'add', '-A');
  git(at, 'commit', '-q', '--allow-empty', '-m', name);
  return git(at, 'rev-parse', 'HEAD');
};

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-left-out-'));
  project = path.join(dir, 'project');
  clone = path.join(dir, 'clone');
  mkdirSync(project);
  git(project, 'init', '-q', '-b', 'main');
  put(project, 'code.c', 'code\n');
  commit(project, 'first');
  for (const name of ['secret.env', 'private/key.pem', 'conf/open']) put(project, name, `${name}\n`);
  commit(project, 'second');
  git(dir, 'clone', '-q', project, clone);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const lacks = (one: string): boolean => /^(secret\.env|private\/.*)$/.test(one);
/** What the gate finds in the session's clone, by the subjects of its commits. */
function found(hidesLacking: (one: string) => boolean = () => false): string[] {
  count += 1;
  const file = path.join(dir, `b${count}.bundle`);
  const known = git(project, 'for-each-ref', '--format=^%(objectname)', 'refs/heads').split('\n');
  git(clone, 'bundle', 'create', '-q', file, '--branches', 'HEAD', ...known);
  const sessionDir = path.join(dir, `s${count}`);
  mkdirSync(sessionDir);
  const bundle = execFileSync('cat', [file]);
  using received = receiveCommits({ project, sessionId: `id-${count}`, sessionDir, bundle, maxBytes: 1 << 20 });
  return findLeftOutChanges(received, { lacks, hidesLacking }).map(
    (one) => `${git(received.repository, 'log', '-1', '--format=%s', one.commit)}: ${one.path}`,
  );
}

it('finds a deletion, an empty file, other content, another mode, a link and a submodule, and a commit that undoes one', () => {
  rmSync(path.join(clone, 'secret.env'));
  rmSync(path.join(clone, 'private'), { recursive: true });
  commit(clone, 'deleted');
  put(clone, 'secret.env', '');
  put(clone, 'private/key.pem', 'private/key.pem\n');
  commit(clone, 'emptied');
  put(clone, 'secret.env', 'secret.env\n');
  commit(clone, 'as before');
  chmodSync(path.join(clone, 'secret.env'), 0o755);
  put(clone, 'private/new', 'new\n');
  commit(clone, 'mode and new');
  execFileSync('ln', ['-sf', 'code.c', 'secret.env'], { cwd: clone });
  commit(clone, 'link');
  git(clone, 'update-index', '--cacheinfo', `160000,${git(clone, 'rev-parse', 'HEAD')},secret.env`);
  git(clone, 'commit', '-q', '-m', 'submodule');
  expect(found()).toEqual([
    'deleted: private/key.pem',
    'deleted: secret.env',
    'emptied: secret.env',
    'mode and new: private/new',
    'mode and new: secret.env',
    'link: secret.env',
    'submodule: secret.env',
  ]);
});

it('finds the deletion of a submodule that the copy lacked, which no blob shows', () => {
  git(project, 'update-index', '--add', '--cacheinfo', `160000,${git(project, 'rev-parse', 'HEAD')},private/lib`);
  git(project, 'commit', '-q', '-m', 'a submodule');
  git(clone, 'pull', '-q', '--ff-only');
  git(clone, 'rm', '-q', '--cached', 'private/lib');
  git(clone, 'commit', '-q', '-m', 'without it');
  expect(found()).toEqual(['without it: private/lib']);
});

it('passes what leaves the files alone: edits, new branches, old states as a start, the history without a parent', () => {
  put(clone, 'code.c', 'edited\n');
  commit(clone, 'edit');
  git(clone, 'checkout', '-q', '-b', 'old', 'HEAD~2');
  put(clone, 'code.c', 'before there was a secret\n');
  commit(clone, 'on the first');
  git(clone, 'checkout', '-q', '--orphan', 'pages');
  git(clone, 'rm', '-q', '-rf', '.');
  put(clone, 'index.html', 'page\n');
  commit(clone, 'page');
  expect(found()).toEqual([]);
});

it("passes the user's own commits that were amended, squashed or rebased, with the files as the user has them", () => {
  put(clone, 'code.c', 'amended\n');
  git(clone, 'commit', '-q', '-a', '--amend', '-m', 'amended');
  expect(found()).toEqual([]);
  put(clone, 'secret.env', 'other\n');
  git(clone, 'commit', '-q', '-a', '--amend', '-m', 'amended again');
  expect(found()).toEqual(['amended again: secret.env']);
});

it("passes a merge that takes the user's change of the file, and no other merge", () => {
  git(project, 'checkout', '-q', '-b', 'rotated');
  put(project, 'secret.env', 'rotated\n');
  commit(project, 'rotate');
  git(project, 'checkout', '-q', 'main');
  git(clone, 'fetch', '-q');
  put(clone, 'code.c', 'edited\n');
  commit(clone, 'edit');
  git(clone, 'merge', '-q', '-m', 'merge', 'origin/rotated');
  expect(found()).toEqual([]);
  put(clone, 'secret.env', 'evil\n');
  git(clone, 'commit', '-q', '-a', '--amend', '-m', 'evil merge');
  expect(found()).toEqual(['evil merge: secret.env']);
});

it('finds a merge with an old state that loses the file, and a copy of it on a branch that has another one', () => {
  const tree = git(clone, 'rev-parse', 'HEAD~^{tree}');
  const made = git(clone, 'commit-tree', tree, '-p', 'HEAD', '-p', 'HEAD~', '-m', 'merge of old');
  git(clone, 'update-ref', 'refs/heads/main', made);
  expect(found()).toEqual(['merge of old: private/key.pem', 'merge of old: secret.env']);
  git(clone, 'update-ref', 'refs/heads/main', 'origin/main');
  git(project, 'checkout', '-q', '-b', 'release');
  put(project, 'secret.env', 'of the release\n');
  commit(project, 'other secret');
  git(clone, 'fetch', '-q');
  git(clone, 'checkout', '-q', '-f', '-b', 'release', 'origin/release');
  git(clone, 'checkout', '-q', 'origin/main', '--', 'secret.env');
  commit(clone, 'the secret of main');
  expect(found()).toEqual(['the secret of main: secret.env']);
});

it('finds a file or link in place of a folder that has something which the copy lacked', () => {
  rmSync(path.join(clone, 'conf'), { recursive: true });
  put(clone, 'conf', 'a file\n');
  commit(clone, 'in place');
  expect(found((one) => one === 'conf')).toEqual(['in place: conf']);
  expect(found()).toEqual([]);
  // git leaves the folder of a submodule as it is.
  git(clone, 'update-index', '--add', '--cacheinfo', `160000,${git(clone, 'rev-parse', 'HEAD')},lib`);
  git(clone, 'commit', '-q', '-m', 'submodule');
  expect(found((one) => one === 'lib')).toEqual([]);
});

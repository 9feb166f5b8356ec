import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { whyRefusedName } from '../../../../src/review/commits/branch-name.ts';
import { requireNewBranch } from '../../../../src/review/publish/branch.ts';

const project = mkdtempSync(path.join(tmpdir(), 'run-claude-name-'));
const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@example.org', ...words], {
    cwd: project,
    encoding: 'utf8',
  });
beforeAll(() => {
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('tag', 'v1');
  git('tag', 'rel/one/two');
  git('update-ref', 'refs/remotes/fork/main', 'HEAD');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

it.each([
  'work',
  'feature/x',
  'é/1',
  'a+b@c',
  'HEADER',
  'head',
  'fork',
  'v2',
  'main/x',
  'abcdef0',
  'origin',
  'my/origin',
  'rel/one',
])('accepts %s', (name) => expect(whyRefusedName(project, name)).toBeUndefined());

it.each([
  ['HEAD', 'git has another meaning for it'],
  ['FETCH_HEAD', 'git has another meaning for it'],
  ['ORIG_HEAD', 'git has another meaning for it'],
  ['AUTO_MERGE', 'git has another meaning for it'],
  ['a'.repeat(40), 'git has another meaning for it'],
  ['refs/heads/x', 'git reads refs/… as the name of another ref'],
  ['heads/x', 'git reads heads/… as the name of another ref'],
  ['tags/v2', 'git reads tags/… as the name of another ref'],
  ['remotes/x/y', 'git reads remotes/… as the name of another ref'],
  ['origin/main', 'git reads origin/… as the name of another ref'],
  ['fork/topic', 'git reads fork/… as the name of another ref'],
  ['v1', 'there is a tag v1'],
  ['@', 'is not a valid name'],
  ['-x', 'is not a valid name'],
  ['a b', 'is not a valid name'],
  ['a;b', 'is not a valid name'],
  ['x.lock', 'is not a valid name'],
])('refuses %s in one line', (name, why) => {
  const found = whyRefusedName(project, name);
  expect(found).toContain(why);
  expect(found).toContain(JSON.stringify(name));
  expect(found).not.toContain('\n');
  expect(() => requireNewBranch(project, name)).toThrow(`--branch: ${found}`);
});

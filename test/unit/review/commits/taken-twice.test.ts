import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findRepositories } from '../../../../src/review/commits/repositories.ts';
import { gitWords, joinAdvice, onePerRepository, unmergedImports } from '../../../../src/review/commits/taken-twice.ts';

let project: string;
const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@example.org', ...words], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** A project with the commits of session `id` imported, and not checked out. */
beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), 'run-claude-twice-'));
  git('init', '-q', '-b', 'main');
  writeFileSync(path.join(project, 'kept'), 'kept\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
  git('checkout', '-q', '-b', 'w');
  writeFileSync(path.join(project, 'kept'), 'edited\n');
  writeFileSync(path.join(project, 'new'), 'new\n');
  git('add', '-A');
  git('commit', '-qm', 'inside');
  git('update-ref', 'refs/run-claude/id/main', 'HEAD');
  git('checkout', '-q', 'main');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const ref = 'refs/run-claude/id/main';
const own = () => findRepositories({ root: project, git: 'directory' }, 'copy', []);

it('names imported commits until HEAD has them, and whether the branch can be moved to them', () => {
  expect(unmergedImports(own(), 'id')).toEqual([{ repository: '', name: ref, canMove: true, isCurrent: true }]);
  expect(unmergedImports(own(), 'i')).toEqual([]);
  expect(unmergedImports(own(), 'other')).toEqual([]);
  git('commit', '-q', '--allow-empty', '-m', 'mine');
  expect(unmergedImports(own(), 'id')).toEqual([{ repository: '', name: ref, canMove: false, isCurrent: true }]);
  git('merge', '-q', '-m', 'both', ref);
  expect(unmergedImports(own(), 'id')).toEqual([]);
});

it('finds none where there is no repository', () => {
  rmSync(path.join(project, '.git'), { recursive: true });
  expect(unmergedImports(own(), 'id')).toEqual([]);
});

it('advises what git does: the branch is moved and the files stay', () => {
  // As after an apply.
  writeFileSync(path.join(project, 'kept'), 'edited\n');
  writeFileSync(path.join(project, 'new'), 'new\n');
  expect(() => git('checkout', '-q', 'w')).toThrow(/would be overwritten/);
  expect(() => git('merge', '-q', '--ff-only', ref)).toThrow(/would be overwritten/);
  const commits = unmergedImports(own(), 'id');
  const [why, move, undo] = joinAdvice({ sessionId: 'id', commits, canUndo: true, git: gitWords(project, project) });
  expect(why).toContain('git does not check out or merge the commits');
  const [, command = ''] = /: (git reset .*)$/.exec(move ?? '') ?? [];
  execFileSync('sh', ['-c', command], { cwd: project });
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '-1', '--format=%s')).toBe('inside');
  expect(undo).toBe(
    `To take the commits instead of the files: run-claude undo id && git merge --autostash --ff-only ${ref}`,
  );
});

it('advises a merge that works over edits from before the session, also of the same file', () => {
  const lines = (first: string, last: string): string => [first, ...'bcdefgh', last, ''].join('\n');
  git('checkout', '-q', '-b', 'long');
  writeFileSync(path.join(project, 'kept'), lines('a', 'z'));
  git('commit', '-qam', 'longer');
  writeFileSync(path.join(project, 'kept'), lines('mine', 'inside'));
  git('commit', '-qam', 'the agent took the edit into its commit');
  git('branch', 'made');
  git('reset', '-q', '--hard', 'HEAD~');
  // As the undo of the session's files leaves it.
  writeFileSync(path.join(project, 'kept'), lines('mine', 'z'));
  const commits = [{ repository: '', name: 'made', canMove: true }];
  const [, , undo = ''] = joinAdvice({ sessionId: 'id', commits, canUndo: true, git: gitWords(project, project) });
  execFileSync('sh', ['-c', undo.replace(/.*run-claude undo id && /, '')], { cwd: project, stdio: 'pipe' });
  expect([git('log', '-1', '--format=%s'), git('status', '--porcelain')]).toEqual([
    'the agent took the edit into its commit',
    '',
  ]);
});

it('advises neither a move that loses commits nor an undo where nothing can be undone', () => {
  const advice = (canUndo: boolean): string[] =>
    joinAdvice({
      sessionId: 'id',
      commits: [{ repository: '', name: 'w', canMove: false }],
      canUndo,
      git: gitWords('/p', '/p'),
    });
  expect(advice(false)).toHaveLength(1);
  expect(advice(true).join('\n')).not.toContain('reset');
  expect(advice(true).at(-1)).toContain('git merge --autostash w');
});

it('advises of one branch in each repository: yours, or one that you can move to', () => {
  git('update-ref', 'refs/run-claude/id/a', 'w');
  expect(unmergedImports(own(), 'id')).toEqual([{ repository: '', name: ref, canMove: true, isCurrent: true }]);
  const of = (repository: string, name: string, canMove = false) => ({ repository, name, canMove });
  const open = [of('lib', 'x'), of('', 'a'), of('lib', 'y', true), of('', 'b')];
  expect(onePerRepository(open).map(({ name }) => name)).toEqual(['y', 'a']);
});

it('writes git for the folder that the user is in', () => {
  const words = (cwd: string): string[] => ['', 'lib', "it's"].map(gitWords('/home/p', cwd));
  expect(words('/home/p')).toEqual(['git', 'git -C lib', "git -C 'it'\\''s'"]);
  expect(words('/home/p/lib')).toEqual(['git -C /home/p', 'git', "git -C '/home/p/it'\\''s'"]);
  expect(words('/home')).toEqual(['git -C p', 'git -C p/lib', "git -C 'p/it'\\''s'"]);
});

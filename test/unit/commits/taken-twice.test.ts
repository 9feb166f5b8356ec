import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { joinAdvice, unmergedImports } from '../../../src/commits/taken-twice.ts';

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

it('names imported commits until HEAD has them, and whether the branch can be moved to them', () => {
  expect(unmergedImports(project, 'id')).toEqual([{ ref, canMove: true }]);
  expect(unmergedImports(project, 'i')).toEqual([]);
  expect(unmergedImports(project, 'other')).toEqual([]);
  git('commit', '-q', '--allow-empty', '-m', 'mine');
  expect(unmergedImports(project, 'id')).toEqual([{ ref, canMove: false }]);
  git('merge', '-q', '-m', 'both', ref);
  expect(unmergedImports(project, 'id')).toEqual([]);
});

it('finds none where there is no repository', () => {
  rmSync(path.join(project, '.git'), { recursive: true });
  expect(unmergedImports(project, 'id')).toEqual([]);
});

it('advises what git does: the branch is moved and the files stay', () => {
  // As after an apply.
  writeFileSync(path.join(project, 'kept'), 'edited\n');
  writeFileSync(path.join(project, 'new'), 'new\n');
  expect(() => git('checkout', '-q', 'w')).toThrow(/would be overwritten/);
  expect(() => git('merge', '-q', '--ff-only', ref)).toThrow(/would be overwritten/);
  const [why, move, undo] = joinAdvice({ sessionId: 'id', name: ref, canMove: true, canUndo: true });
  expect(why).toContain(`git does not check out or merge ${ref}`);
  const [, command = ''] = /: (git reset .*)$/.exec(move ?? '') ?? [];
  execFileSync('sh', ['-c', command], { cwd: project });
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '-1', '--format=%s')).toBe('inside');
  expect(undo).toContain('run-claude undo id, then git checkout or git merge');
});

it('advises neither a move that loses commits nor an undo where nothing can be undone', () => {
  expect(joinAdvice({ sessionId: 'id', name: 'w', canMove: false, canUndo: false })).toHaveLength(1);
  expect(joinAdvice({ sessionId: 'id', name: 'w', canMove: false, canUndo: true }).join('\n')).not.toContain('reset');
});

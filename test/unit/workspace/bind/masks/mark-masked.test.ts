import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { markMasked } from '../../../../../src/workspace/bind/masks/mark-masked.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'run-claude-masks-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('makes git pass over a tracked file that is masked, and over no other', () => {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  git('init', '-q');
  for (const name of ['a.key', 'b.txt']) writeFileSync(path.join(root, name), 'content\n');
  git('add', '-A');
  markMasked(path.join(root, '.git'), (name) => name.endsWith('.key'));
  for (const name of ['a.key', 'b.txt']) writeFileSync(path.join(root, name), '');
  expect(git('diff', '--name-only')).toBe('b.txt\n');
});

it('leaves a repository without an index as it is', () => {
  expect(() => markMasked(path.join(root, 'none'), () => true)).not.toThrow();
});

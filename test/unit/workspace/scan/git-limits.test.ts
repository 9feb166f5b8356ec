import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitLimits } from '../../../../src/workspace/scan/git/git-limits.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-limits-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const git = (where: string, ...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@h', ...words], {
    cwd: path.join(dir, where),
    encoding: 'utf8',
    stdio: 'pipe',
    env: { PATH: process.env['PATH'], HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
  });
const limits = (where: string): string[] => gitLimits(path.join(dir, where));

describe('what git cannot do inside', () => {
  it('is nothing in an ordinary clone, and where there is nothing to read', () => {
    git('', 'init', '-q', 'one');
    git('one', 'commit', '-q', '--allow-empty', '-m', 'x');
    git('', 'clone', '-q', 'one', 'two');
    expect(limits('two')).toEqual([]);
    expect(limits('nowhere')).toEqual([]);
    mkdirSync(path.join(dir, 'two/inside'));
    expect(limits('two/inside')).toEqual([]);
  });

  it('names the objects that a partial clone never fetched, until its command has fetched them', () => {
    git('', 'init', '-q', 'one');
    for (const text of ['old', 'new']) {
      writeFileSync(path.join(dir, 'one/f'), text);
      git('one', 'add', 'f');
      git('one', 'commit', '-q', '-m', text);
    }
    git('one', 'config', 'uploadpack.allowFilter', 'true');
    git('', 'clone', '-q', '-o', 'up', '--filter=blob:none', `file://${dir}/one`, 'part');
    const missing = (): boolean => git('part', 'rev-list', '--objects', '--all', '--missing=print').includes('?');
    expect(missing()).toBe(true);
    const [line = '', ...others] = limits('part');
    expect(others).toEqual([]);
    expect(line).toMatch(/^Partial clone: what git has not fetched from up is not in the copy/);
    git('part', 'worktree', 'add', '-q', '../linked');
    expect(limits('linked')).toEqual([line]);
    const [, command = ''] = /: (git fetch .*)$/.exec(line) ?? [];
    execFileSync('sh', ['-ec', command], { cwd: path.join(dir, 'part'), stdio: 'pipe' });
    expect(missing()).toBe(false);
    expect(limits('part')).toEqual([]);
  });

  it('names a way to store refs that the git of the image does not read', () => {
    mkdirSync(path.join(dir, 'x/.git'), { recursive: true });
    const file = path.join(dir, 'x/.git/config');
    writeFileSync(file, '[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n');
    expect(limits('x')).toEqual([expect.stringContaining('reftable')]);
    writeFileSync(file, '[extensions]\n\trefStorage = files\n');
    expect(limits('x')).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { treeAbove, unchangedFiles } from '../../../../src/core/git/index-entries.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-entries-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const repository = (name: string, format: string): { git: (...words: string[]) => string; index: () => Buffer } => {
  const at = path.join(dir, name);
  mkdirSync(at);
  const own = ['-c', 'core.quotePath=false', '-c', 'user.name=P', '-c', 'user.email=p@example.org'];
  const git = (...words: string[]): string =>
    execFileSync('git', [...own, ...words], { cwd: at, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '-q', `--object-format=${format}`);
  for (const one of ['a', 'b/c', 'b/d/e', 'b/ünï', 'f/g/h', 'f/i', 'x'.repeat(200)]) {
    mkdirSync(path.dirname(path.join(at, one)), { recursive: true });
    writeFileSync(path.join(at, one), one);
  }
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  return { git, index: () => readFileSync(path.join(at, '.git/index')) };
};

it.each(['sha1', 'sha256'])('names the content of every file as git does (%s)', (format) => {
  const { git, index } = repository(format, format);
  const bytes = format === 'sha1' ? 20 : 32;
  const check = (expectedTrees: readonly string[]): void => {
    const found = unchangedFiles(index(), bytes, () => true);
    expect([...(found?.trees.keys() ?? [])].sort()).toEqual(expectedTrees);
    const ids = git('ls-files', '-s', '-z')
      .split('\0')
      .flatMap((line) => (line === '' ? [] : [[line.slice(line.indexOf('\t') + 1), line.split(' ')[1]] as const]));
    expect(found?.paths).toEqual(ids.map(([name]) => name));
    for (const [name, id] of ids) {
      const around = treeAbove(name, found?.trees ?? new Map());
      const inner = around === '' ? name : name.slice((around ?? '').length + 1);
      const own =
        around === undefined ? found?.blobs.get(name) : git('rev-parse', `${found?.trees.get(around)}:${inner}`);
      expect(own?.trim(), name).toBe(id);
    }
  };
  check(['']);
  const at = path.join(dir, format);
  writeFileSync(path.join(at, 'b/d/e'), 'staged');
  git('add', 'b/d/e');
  check(['f']);
  git('update-index', '--index-version=4');
  check(['f']);
});

it('takes nothing from an entry without a file, or of a merge, and nothing from an index that is not whole', () => {
  const { git, index } = repository('more', 'sha1');
  git('update-index', '--skip-worktree', 'b/c');
  writeFileSync(path.join(dir, 'more', 'later'), 'x');
  git('add', '-N', 'later');
  const ids = ['a', 'f/i'].map((name) => git('rev-parse', `HEAD:${name}`).trim());
  const stages = ids.map((id, at) => `100644 ${id} ${at + 1}\tmerged\n`).join('');
  execFileSync('git', ['update-index', '--index-info'], { cwd: path.join(dir, 'more'), input: stages });
  const found = unchangedFiles(index(), 20, () => true);
  for (const name of ['b/c', 'later', 'merged']) expect(found?.paths).not.toContain(name);
  expect(found?.paths).toContain('a');
  const whole = index();
  for (let length = 0; length < whole.length; length += 7)
    expect(unchangedFiles(whole.subarray(0, length), 20, () => true)).toBeUndefined();
  git('update-index', '--split-index');
  expect(unchangedFiles(index(), 20, () => true)).toBeUndefined();
});

it('gives no tree of an extension that is damaged', () => {
  const { index } = repository('damaged', 'sha1');
  const bytes = index();
  const at = bytes.indexOf('TREE') + 8;
  for (const garbage of ['\0', '\0-', '\x001 9\n', '\x00999 999\n', 'no end']) {
    const changed = Buffer.from(bytes);
    changed.fill(0xff, at, at + 40).write(garbage, at, 'latin1');
    const found = unchangedFiles(changed, 20, () => true);
    expect(found?.paths.length).toBe(7);
  }
});

import {
  copyFileSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CopyTask, FileCopier } from '../../../src/workspace/base/refresh/copy-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-clones-'));
  writeFileSync(path.join(dir, 'source'), CONTENT, { mode: 0o640 });
});
afterEach(() => rmSync(dir, { recursive: true }));

const at = (name: string): string => path.join(dir, name);
const CONTENT = Buffer.alloc(16 << 20, 'content');

function task(name: string): CopyTask {
  const { ino, dev, mode } = lstatSync(at('source'));
  return { source: at('source'), target: at(name), ino, dev, mode: mode & 0o7777 };
}

/** A copier on macOS, where `cp -c` does this. */
function copier(clone: (from: string, to: string) => boolean): FileCopier {
  return new FileCopier(
    { owner: undefined },
    {
      platform: 'darwin',
      cloneByProgram: clone,
      copySparseByProgram: () => false,
    },
  );
}

const isWhole = (name: string): boolean => readFileSync(at(name)).equals(CONTENT);

it('a large file is cloned by its path, with the mode and time that the walk saw', () => {
  const asked: unknown[] = [];
  const clone = (from: string, to: string): boolean => {
    asked.push([from, to]);
    copyFileSync(from, to);
    return true;
  };
  expect(copier(clone).copy(task('copy'))).toBeUndefined();
  expect(asked).toEqual([[at('source'), at('copy')]]);
  const [source, copy] = [statSync(at('source')), statSync(at('copy'))];
  expect([isWhole('copy'), copy.mode]).toEqual([true, source.mode]);
  expect(copy.mtimeMs).toBeCloseTo(source.mtimeMs, 2);
});

it('no program is started for a small file', () => {
  writeFileSync(at('source'), 'small');
  const clone = (): never => {
    throw new Error('started');
  };
  expect(copier(clone).copy(task('copy'))).toBeUndefined();
  expect(readFileSync(at('copy'), 'utf8')).toBe('small');
});

it.each([
  ['fails', () => false],
  [
    'leaves half a file',
    (_: string, to: string) => {
      writeFileSync(to, 'half');
      return true;
    },
  ],
])('where the program %s, the bytes are copied', (_, clone) => {
  expect(copier(clone).copy(task('copy'))).toBeUndefined();
  expect(isWhole('copy')).toBe(true);
});

it.each([
  ['a link', () => symlinkSync('/etc/passwd', at('source'))],
  ['another file', () => writeFileSync(at('source'), 'SECRET')],
  ['nothing', () => undefined],
])('a source that is replaced by %s while it is cloned is never in the copy', (_, replace) => {
  const swap = (from: string, to: string): boolean => {
    renameSync(at('source'), at('moved'));
    replace();
    if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return false;
    copyFileSync(from, to);
    return true;
  };
  // The rename changed the inode's time, so the next walk looks again.
  expect(copier(swap).copy(task('copy'))?.what).toBe('changed');
  expect(isWhole('copy')).toBe(true);
});

it('a file of another name that the disk takes for the same one is not replaced', () => {
  writeFileSync(at('copy'), 'of another file');
  const clone = (from: string, to: string): boolean => {
    copyFileSync(from, to);
    return true;
  };
  expect(copier(clone).copy(task('copy'))).toMatchObject({ what: 'failed', why: expect.stringMatching(/^EEXIST/) });
  expect(readFileSync(at('copy'), 'utf8')).toBe('of another file');
});

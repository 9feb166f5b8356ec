import {
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CopySystem, type CopyTask, FileCopier } from '../../../../../src/workspace/base/refresh/copy-file.ts';
import { skipUnless } from '../../../../support/requirement.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-sparse-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const at = (name: string): string => path.join(dir, name);

/** A file of holes, with data in the middle and at the end. */
function makeSparse(size: number): CopyTask {
  const fd = openSync(at('source'), 'w', 0o640);
  writeSync(fd, 'middle', Math.floor(size / 2));
  writeSync(fd, 'end', size - 3);
  ftruncateSync(fd, size);
  closeSync(fd);
  const { ino, dev, mode } = lstatSync(at('source'));
  return { source: at('source'), target: at('copy'), ino, dev, mode: mode & 0o7777 };
}

/** Bytes that this process and its ended children have read so far. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** What is at the places of the data, and whether the copy is as sparse as its source. */
function expectCopied(size: number): void {
  const { size: copied, blocks, mode, mtimeMs } = lstatSync(at('copy'));
  const source = lstatSync(at('source'));
  expect([copied, mode, Math.trunc(mtimeMs)]).toEqual([size, source.mode, Math.trunc(source.mtimeMs)]);
  expect(blocks).toBeLessThan(4096);
  const [fd, piece] = [openSync(at('copy'), 'r'), Buffer.alloc(6)];
  readSync(fd, piece, 0, 6, Math.floor(size / 2));
  expect(piece.toString()).toBe('middle');
  readSync(fd, piece, 0, 3, size - 3);
  expect(piece.toString()).toBe('enddle');
  closeSync(fd);
}

const system = (copySparseByProgram: CopySystem['copySparseByProgram']): CopySystem => ({
  platform: 'linux',
  cloneByProgram: () => false,
  copySparseByProgram,
});

describe('a sparse file', () => {
  it('of 2 GB is copied without reading its holes', (context) => {
    skipUnless(process.platform === 'linux', 'reads /proc', context);
    const size = 2 ** 31;
    const task = makeSparse(size);
    const before = bytesRead();
    expect(new FileCopier({ owner: undefined }).copy(task)).toBeUndefined();
    // The program's own libraries, and the blocks with data.
    expect(bytesRead() - before).toBeLessThan(4 << 20);
    expectCopied(size);
  });

  it.each([
    ['cannot be started', () => false],
    [
      'fails in the middle',
      (_: number, to: string | Buffer) => {
        writeFileSync(to, 'half');
        return false;
      },
    ],
    [
      'copies less',
      (_: number, to: string | Buffer) => {
        writeFileSync(to, 'half');
        return true;
      },
    ],
  ])('is copied by this process where the program %s', (_, program) => {
    const size = 32 << 20;
    const task = makeSparse(size);
    expect(new FileCopier({ owner: undefined }, system(program)).copy(task)).toBeUndefined();
    expectCopied(size);
  });

  it('is never written through a link that has the name of the copy', () => {
    const task = makeSparse(32 << 20);
    writeFileSync(at('other'), 'other');
    symlinkSync('other', at('copy'));
    expect(new FileCopier({ owner: undefined }).copy(task)).toMatchObject({ what: 'failed' });
    expect(readFileSync(at('other'), 'utf8')).toBe('other');
  });
});

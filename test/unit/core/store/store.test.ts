import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processIdentity, processState } from '../../../../src/core/host/processes/process.ts';
import { openContentStore, readEndsSync } from '../../../../src/core/store/content.ts';
import { takeLock, withLock } from '../../../../src/core/store/lock.ts';
import { makePrivateDir, readJson, writeJsonAtomic } from '../../../../src/core/store/record.ts';
import type { LockHolder } from '../../../../src/core/types/lock-holder.ts';
import { compileProgram } from '../../../support/compile.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-store-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('records', () => {
  it('are read back as written, with mode 0600 and no temporary file left', () => {
    const file = path.join(dir, 'deep', 'record.json');
    writeJsonAtomic(file, { name: 'a\udc80b', list: [1, 2] });
    writeJsonAtomic(file, { name: 'second' });
    expect(readJson(file)).toEqual({ name: 'second' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(file))).toEqual(['record.json']);
  });

  it('are undefined when absent and an error when damaged', () => {
    expect(readJson(path.join(dir, 'none.json'))).toBeUndefined();
    writeFileSync(path.join(dir, 'half.json'), '{"a":');
    expect(() => readJson(path.join(dir, 'half.json'))).toThrow(expect.objectContaining({ code: 'RECORD_DAMAGED' }));
  });
});

it('creates directories, and fails at once where that is not possible', () => {
  const deep = path.join(dir, 'a/b/c');
  makePrivateDir(deep);
  makePrivateDir(deep);
  expect(statSync(path.join(dir, 'a')).mode & 0o777).toBe(0o700);
  writeFileSync(path.join(dir, 'file'), '');
  for (const place of ['/proc/run-claude/none', path.join(dir, 'file'), path.join(dir, 'file/below')])
    expect(() => makePrivateDir(place), place).toThrow(/cannot write/);
});

describe('locks', () => {
  it('name their holder, its command and its start time', async () => {
    const file = path.join(dir, 'lock');
    const release = await takeLock(file, { what: 'testing' });
    await expect(takeLock(file, { what: 'second' })).rejects.toMatchObject({
      code: 'LOCK_HELD',
      message: expect.stringMatching(
        new RegExp(`is held by process ${process.pid} on \\S+ \\(testing, started just now\\)$`),
      ),
    });
    release();
    (await takeLock(file, { what: 'third' }))();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('of a newer release are never taken over', async () => {
    const file = path.join(dir, 'lock');
    const gone = { ...processIdentity(), bootId: 'another' };
    const lock = { version: 2, holder: gone, since: 'then', what: 'x', token: 't' };
    writeFileSync(file, JSON.stringify(lock));
    await expect(takeLock(file, { what: 'older' })).rejects.toThrow(
      /is held by an unknown process \(its lock file cannot be read\)$/,
    );
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(lock);
  });

  it('report the holder to the one who waits, once, and the end of the wait, also of one in vain', async () => {
    const file = path.join(dir, 'lock');
    const told: string[] = [];
    const waiting = ({ name, doing }: LockHolder): Disposable => {
      told.push(name, doing);
      return { [Symbol.dispose]: () => void told.push('end') };
    };
    const held = [`process ${process.pid} on ${hostname()}`, 'testing for /shop, started just now', 'end'];
    const release = await takeLock(file, { what: 'testing for /shop', waiting });
    expect(told).toEqual([]);
    await expect(takeLock(file, { what: 'second', waitMs: 120, waiting })).rejects.toThrow('is held by');
    expect(told.splice(0)).toEqual(held);
    setTimeout(release, 120);
    (await takeLock(file, { what: 'third', waitMs: 5000, waiting }))();
    expect(told).toEqual(held);
  });

  it('are waited for', async () => {
    const file = path.join(dir, 'lock');
    const order: number[] = [];
    const one = withLock(file, { what: 'one' }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 150));
      order.push(1);
    });
    await withLock(file, { what: 'two', waitMs: 600_000 }, async () => {
      order.push(2);
    });
    await one;
    expect(order).toEqual([1, 2]);
  });

  it('are taken over from an ended process, never from a running process or another host', async () => {
    const file = path.join(dir, 'lock');
    const child = spawn('sleep', ['60']);
    const me = processIdentity();
    const held = (holder: object) => {
      rmSync(file, { force: true });
      writeFileSync(file, JSON.stringify({ holder, since: 'then', what: 'x', token: 't' }));
    };
    held({ ...me, pid: child.pid, started: '1' });
    (await takeLock(file, { what: 'reused process number' }))();
    held({ ...me, bootId: 'another' });
    (await takeLock(file, { what: 'another boot' }))();
    held({ ...me, host: 'elsewhere pid:[1]', bootId: 'another' });
    await expect(takeLock(file, { what: 'another host' })).rejects.toMatchObject({ code: 'LOCK_HELD' });
    const started = readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[19];
    held({ ...me, pid: child.pid, started });
    await expect(takeLock(file, { what: 'living' })).rejects.toMatchObject({ code: 'LOCK_HELD' });
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    (await takeLock(file, { what: 'killed' }))();
    expect(processState({ ...me, pid: child.pid ?? 0 })).toBe('ended');
    expect(processState(me)).toBe('alive');
    expect(readdirSync(dir).filter((name) => name.startsWith('lock'))).toEqual([]);
  });

  it.each([
    ['a dangling link', (file: string) => symlinkSync('nowhere', file)],
    ['a link to a file', (file: string) => symlinkSync(process.execPath, file)],
    ['a directory', (file: string) => mkdirSync(file)],
    ['a FIFO', (file: string) => void execFileSync('mkfifo', [file])],
  ])('are refused where %s is in the place of the lock file, and the entry stays', async (_, make) => {
    const file = path.join(dir, 'lock');
    make(file);
    const before = lstatSync(file);
    await expect(takeLock(file, { what: 'testing', waitMs: 60_000 })).rejects.toMatchObject({ code: 'LOCK_UNUSABLE' });
    expect(lstatSync(file)).toEqual(before);
    expect(readdirSync(dir)).toEqual(['lock']);
  });

  it('have one holder at a time, even after a process was killed while it removed a stale lock', async () => {
    const file = path.join(dir, 'lock');
    const holder = { ...processIdentity(), bootId: 'another' };
    const left = (name: string, token: string): void =>
      writeFileSync(name, JSON.stringify({ holder, since: 'then', what: 'x', token }));
    left(file, 'first');
    left(`${file}.over-first`, 'second');
    left(`${file}.over-second`, 'third');
    let [inside, most, turns] = [0, 0, 0];
    const take = () =>
      withLock(file, { what: 'one of many', waitMs: 600_000 }, async () => {
        most = Math.max(most, ++inside);
        turns += 1;
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 20 }, take));
    expect([most, turns]).toEqual([1, 20]);
    expect(readdirSync(dir).filter((name) => name.startsWith('lock'))).toEqual([]);
  });
});

describe('the content store', () => {
  it('is flushed file by file where `sync -f` does not work, with few open at a time', async () => {
    const program = await compileProgram(path.resolve(import.meta.dirname, '../../../support/store/flush-program.ts'));
    const bin = path.join(dir, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'sync'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const limited = 'ulimit -n 160; exec "$0" "$@"';
    const words = ['-c', limited, process.execPath, program, path.join(dir, 'store')];
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    expect(execFileSync('sh', words, { encoding: 'utf8', env })).toBe('flushed');
  });

  it('gives back any bytes under their SHA-256', async () => {
    const store = openContentStore(path.join(dir, 'store'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 5 }), async (chunks) => {
        const { digest, size } = await store.put(chunks);
        const whole = Buffer.concat(chunks);
        expect(size).toBe(whole.length);
        expect((await store.read(digest)).equals(whole)).toBe(true);
      }),
      { numRuns: 30 },
    );
    await store.flush();
    expect(readdirSync(path.join(dir, 'store')).filter((name) => name.startsWith('.new'))).toEqual([]);
  });

  it('returns large content in chunks, reports damage after the last one, and returns its first and last bytes', async () => {
    const store = openContentStore(path.join(dir, 'store'));
    const large = randomBytes(5_500_000);
    const { digest } = await store.put([
      large.subarray(0, 10),
      large.subarray(10, 4_000_000),
      large.subarray(4_000_000),
    ]);
    const pieces = store.pieces(digest);
    for (let twice = 0; twice < 2; twice++) expect(Buffer.concat([...pieces]).equals(large)).toBe(true);
    for (const length of [1, 1000, 1 << 20, 2_500_000]) {
      const ends = Buffer.concat([large.subarray(0, length), large.subarray(-length)]);
      expect(readEndsSync(path.join(dir, 'store'), digest, length).equals(ends)).toBe(true);
    }
    expect(readEndsSync(path.join(dir, 'store'), digest, 4_000_000).equals(large)).toBe(true);
    // The same content is recognised the second time without being written.
    expect((await openContentStore(path.join(dir, 'store')).put([large])).digest).toBe(digest);
    const file = path.join(dir, 'store', digest.slice(0, 2), digest);
    large[3_000_000] = (large[3_000_000] as number) ^ 1;
    writeFileSync(file, large);
    expect(() => [...store.pieces(digest)]).toThrow(expect.objectContaining({ code: 'CONTENT_DAMAGED' }));
    expect(() => readEndsSync(path.join(dir, 'store'), digest, 100)).toThrow(/not what was frozen/);
    rmSync(file);
    expect(() => [...store.pieces(digest)]).toThrow(expect.objectContaining({ code: 'CONTENT_MISSING' }));
  });

  it('refuses content that was changed or is missing', async () => {
    const store = openContentStore(path.join(dir, 'store'));
    const { digest } = await store.put([Buffer.from('frozen')]);
    writeFileSync(path.join(dir, 'store', digest.slice(0, 2), digest), 'thawed');
    await expect(store.read(digest)).rejects.toMatchObject({ code: 'CONTENT_DAMAGED' });
    await expect(store.read('0'.repeat(64))).rejects.toMatchObject({ code: 'CONTENT_MISSING' });
    await expect(store.read('../../etc/passwd')).rejects.toMatchObject({ code: 'CONTENT_MISSING' });
  });

  it('uses no disk space for long runs of zeros', async () => {
    const store = openContentStore(path.join(dir, 'store'));
    const zeros = Buffer.alloc(1 << 20);
    // Zeros at the start, in the middle and at the end, none at the boundary of a chunk.
    const pieces = [zeros, Buffer.from('one'), ...Array(20).fill(zeros), Buffer.from('two'), ...Array(20).fill(zeros)];
    const { digest, size } = await store.put(pieces);
    expect(Buffer.concat([...store.pieces(digest)]).equals(Buffer.concat(pieces))).toBe(true);
    const stat = statSync(path.join(dir, 'store', digest.slice(0, 2), digest));
    expect([stat.size, stat.blocks * 512 < 1 << 19]).toEqual([size, true]);
  });

  it('keeps nothing of a source that fails', async () => {
    const store = openContentStore(path.join(dir, 'store'));
    const source = async function* () {
      yield Buffer.from('half');
      throw new Error('source failed');
    };
    await expect(store.put(source())).rejects.toThrow('source failed');
    expect(readdirSync(path.join(dir, 'store'))).toEqual([]);
  });

  it('reports a full and a read-only disk', async () => {
    const small = path.join(dir, 'small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]);
    try {
      const store = openContentStore(path.join(small, 'store'));
      await expect(store.put([Buffer.alloc(200_000, 1)])).rejects.toMatchObject({
        code: 'STORE_UNWRITABLE',
        hint: expect.stringMatching(/session is kept .*disk is full/),
      });
      expect(readdirSync(path.join(small, 'store'))).toEqual([]);
      const record = { code: 'RECORD_UNWRITABLE', hint: expect.stringContaining('disk is full') };
      expect(() => writeJsonAtomic(path.join(small, 'record'), 'x'.repeat(200_000))).toThrow(
        expect.objectContaining(record),
      );
      execFileSync('mount', ['-o', 'remount,ro', small]);
      const readOnly = { hint: expect.stringContaining('mounted read-only') };
      await expect(store.put([Buffer.alloc(10)])).rejects.toMatchObject(readOnly);
      expect(() => makePrivateDir(path.join(small, 'new'))).toThrow(expect.objectContaining(readOnly));
    } finally {
      execFileSync('umount', [small]);
    }
  });
});

describe('what another process left', () => {
  it('a lock that was taken over is not removed by its previous holder', async () => {
    const file = path.join(dir, 'lock');
    const release = await takeLock(file, { what: 'first' });
    rmSync(file);
    const other = await takeLock(file, { what: 'second' });
    release();
    expect(readFileSync(file, 'utf8')).toContain('second');
    other();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('a content of which a power cut left half is written again', async () => {
    const digest = (await openContentStore(dir).put([Buffer.from('whole content')])).digest;
    writeFileSync(path.join(dir, digest.slice(0, 2), digest), 'whole');
    const store = openContentStore(dir);
    await store.put([Buffer.from('whole content')]);
    expect((await store.read(digest)).toString()).toBe('whole content');
  });
});

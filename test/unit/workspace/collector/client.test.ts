import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBytes, type RelPath } from '../../../../src/core/text/path.ts';
import type { ListedEntry } from '../../../../src/core/types/collector.ts';
import type { Collector } from '../../../../src/workspace/collector/client.ts';
import { speakToCollector } from '../../../../src/workspace/collector/client.ts';
import { FrameCutter, PayloadReader, readEntry } from '../../../../src/workspace/collector/wire.ts';
import { compileCollector, runCollector } from '../../../support/collector-program.ts';

let dir: string;
let collector: Collector;
let stop: () => void;

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-tree-'));
  const started = await runCollector({ tree: dir });
  collector = started.collector;
  stop = () => started.collector.close();
});
afterAll(() => {
  stop();
  rmSync(dir, { recursive: true, force: true });
});

const rel = (text: string): RelPath => text as RelPath;

async function all(below?: string): Promise<Map<string, ListedEntry>> {
  const found = new Map<string, ListedEntry>();
  for await (const entry of collector.list('tree', below as RelPath | undefined)) found.set(entry.path, entry);
  return found;
}

async function content(name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of collector.read('tree', rel(name))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('the collector on a disk that fails', () => {
  const EIO = '5';
  const EOVERFLOW = '75';

  async function withDisk<T>(env: Readonly<Record<string, string>>, ask: (one: Collector) => Promise<T>): Promise<T> {
    const failing = mkdtempSync(path.join(tmpdir(), 'run-claude-failing-'));
    const fd = openSync(path.join(failing, 'holes'), 'w');
    writeSync(fd, 'data', 0);
    writeSync(fd, 'more data', 1 << 20);
    closeSync(fd);
    for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(path.join(failing, name), '');
    const started = await runCollector({ tree: failing }, { how: 'failing', env });
    try {
      return await ask(started.collector);
    } finally {
      started.collector.close();
      rmSync(failing, { recursive: true, force: true });
    }
  }

  async function readHoles(one: Collector): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of one.read('tree', rel('holes'))) pieces.push(piece);
    return Buffer.concat(pieces).toString('latin1').replaceAll('\0', '');
  }

  async function namesOf(one: Collector): Promise<number> {
    let count = 0;
    for await (const _ of one.list('tree')) count += 1;
    return count;
  }

  it.each([EIO, EOVERFLOW])('gives error %s of a search for data, and not zeros', async (number) => {
    await expect(withDisk({ FAIL_SEEK: number }, readHoles)).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    expect(await withDisk({}, readHoles)).toBe('datamore data');
  });

  it('reads a file system that knows no holes', async () => {
    expect(await withDisk({ FAIL_SEEK: '22' }, readHoles)).toBe('datamore data');
  });

  it('gives the error of a root that cannot be listed to its end, and not a whole list', async () => {
    await expect(withDisk({ FAIL_LIST: EIO }, namesOf)).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    expect(await withDisk({}, namesOf)).toBe(6);
  });
});

describe('the collector', () => {
  it('lists every kind of entry, names as bytes, and follows nothing', async () => {
    const odd = Buffer.from([0x61, 0xff, 0x0a, 0x2c]);
    mkdirSync(path.join(dir, 'kinds/sub'), { recursive: true });
    writeFileSync(path.join(dir, 'kinds/file'), 'content', { mode: 0o640 });
    linkSync(path.join(dir, 'kinds/file'), path.join(dir, 'kinds/hard'));
    symlinkSync('/etc', path.join(dir, 'kinds/link'));
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/kinds/`), odd]), '');
    execFileSync('mkfifo', [path.join(dir, 'kinds/fifo')]);
    execFileSync('mknod', [path.join(dir, 'kinds/whiteout'), 'c', '0', '0']);
    const server = createServer().listen(path.join(dir, 'kinds/socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    const found = await all('kinds');
    server.close();
    expect([...found.keys()].sort()).toEqual(
      ['fifo', 'file', 'hard', 'link', 'socket', 'sub', 'whiteout', decodeBytes(odd)].map((n) => `kinds/${n}`).sort(),
    );
    expect(found.get('kinds/file')).toMatchObject({ kind: 'file', size: 7, mode: 0o640, nlink: 2 });
    expect(found.get('kinds/hard')?.linkGroup).toBe(found.get('kinds/file')?.linkGroup);
    expect(found.get('kinds/link')).toMatchObject({ kind: 'symlink', target: '/etc' });
    expect(found.get('kinds/fifo')?.kind).toBe('fifo');
    expect(found.get('kinds/whiteout')).toMatchObject({ kind: 'char', whiteout: true });
    await expect(content('kinds/link/passwd')).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    await expect(content('kinds/fifo')).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    await expect(content('../etc/passwd')).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    await expect(content('kinds/link')).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
  });

  it('reads content with holes, and refuses a sparse giant without reading it', async () => {
    const fd = openSync(path.join(dir, 'sparse'), 'w');
    writeSync(fd, 'start', 0);
    writeSync(fd, 'end', 20_000_000);
    closeSync(fd);
    const read = await content('sparse');
    expect(read.length).toBe(20_000_003);
    expect(read.subarray(0, 5).toString() + read.subarray(-3).toString()).toBe('startend');
    expect((await collector.stat('tree', rel('sparse')))?.allocated).toBeLessThan(1_000_000);
    const giant = openSync(path.join(dir, 'giant'), 'w');
    ftruncateSync(giant, 15e12);
    closeSync(giant);
    const before = Date.now();
    await expect(content('giant')).rejects.toMatchObject({ code: 'COLLECTOR_READ' });
    expect(Date.now() - before).toBeLessThan(60_000);
    rmSync(path.join(dir, 'giant'));
  });

  it('lists paths longer than PATH_MAX, and refuses each entry that is too deep', async () => {
    const script = `import os,sys
os.chdir(sys.argv[1]); os.mkdir('deep'); os.chdir('deep')
for i in range(500):
    os.mkdir('d'*int(sys.argv[2])); os.chdir('d'*int(sys.argv[2]))`;
    execFileSync('python3', ['-c', script, dir, '40']);
    const found = [...(await all('deep')).values()];
    const refused = found.filter((entry) => entry.problem?.includes('too deep'));
    expect(refused).toHaveLength(1);
    // Nothing below a folder that no path can name is listed: each entry would repeat the path of all that are above.
    expect(refused[0]?.path).toHaveLength('deep/'.length + 41 * 100 - 1);
    expect(found.filter((entry) => entry.path.length > 4096)).toEqual(refused);
    expect(found).toHaveLength(100);
    // Level by level too, as changes are followed.
    const parent = (refused[0]?.path ?? '').slice(0, -41);
    const level: ListedEntry[] = [];
    for await (const entry of collector.listUpTo('tree', parent, 10, false)) level.push(entry);
    expect(level).toMatchObject([{ path: refused[0]?.path, problem: 'too deep to be listed' }]);
    execFileSync('rm', ['-rf', path.join(dir, 'deep')]);
  });

  it('refuses to list more entries than its limit', async () => {
    mkdirSync(path.join(dir, 'many'));
    for (let i = 0; i < 300; i++) writeFileSync(path.join(dir, 'many', `n${i}`), '');
    const list = async () => {
      for await (const entry of collector.listUpTo('tree', 'many', 100, true)) expect(entry.kind).toBe('file');
    };
    await expect(list()).rejects.toMatchObject({ code: 'COLLECTOR_TOO_MANY' });
    expect((await all('many')).size).toBe(300);
  });

  it('answers many requests at once, also after an answer that was not read to its end', async () => {
    writeFileSync(path.join(dir, 'big'), Buffer.alloc(30_000_000, 7));
    for await (const chunk of collector.read('tree', rel('big'))) {
      expect(chunk[0]).toBe(7);
      break;
    }
    const stats = await Promise.all(Array.from({ length: 200 }, (_, i) => collector.stat('tree', rel(`many/n${i}`))));
    expect(stats.every((entry) => entry?.kind === 'file')).toBe(true);
    expect(await collector.stat('tree', rel('absent/below'))).toBeUndefined();
    expect((await collector.space('tree')).available).toBeGreaterThan(0);
  });

  it('fails a pending request when it ends', async () => {
    const other = await runCollector({ tree: dir });
    other.child.kill('SIGKILL');
    await expect(other.collector.stat('tree', rel('many'))).rejects.toMatchObject({ code: 'COLLECTOR_LOST' });
  });
});

describe('the parser', () => {
  it('gives frames or one refusal for any bytes, in chunks of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (chunks) => {
        const cutter = new FrameCutter();
        try {
          for (const chunk of chunks)
            for (const frame of cutter.push(Buffer.from(chunk))) {
              const payload = new PayloadReader(frame.payload);
              while (!payload.done) expect(readEntry(payload).path).not.toMatch(/^\/|\0/);
            }
        } catch (error) {
          expect(error).toMatchObject({ code: 'COLLECTOR_PROTOCOL' });
        }
      }),
    );
  });

  it('refuses a list of more entries than it asked for, from a collector that ignores the limit', async () => {
    const many = path.join(dir, 'twenty');
    mkdirSync(many);
    for (let i = 0; i < 20; i++) writeFileSync(path.join(many, String(i)), '');
    const child = spawn(compileCollector(), [`tree=${many}`], { stdio: ['pipe', 'pipe', 'inherit'] });
    const stdin = new PassThrough();
    const AT_LIMIT = 9 + 4 + 'tree'.length + 1;
    stdin.on('data', (request: Buffer) => {
      if (request[8] === 'L'.charCodeAt(0)) request.writeBigUInt64LE(1000n, AT_LIMIT);
      child.stdin.write(request);
    });
    const lying = await speakToCollector({ stdin, stdout: child.stdout });
    const listed = async (max: number): Promise<number> => {
      let count = 0;
      for await (const _ of lying.listUpTo('tree', '', max, true)) count += 1;
      return count;
    };
    expect(await listed(20)).toBe(20);
    await expect(listed(19)).rejects.toMatchObject({ code: 'COLLECTOR_PROTOCOL' });
    child.stdin.end();
    lying.close();
  });

  it('refuses a frame that is too long before it has arrived', async () => {
    const stdout = new PassThrough();
    const opened = speakToCollector({ stdin: new PassThrough(), stdout });
    stdout.write(Buffer.from([0xff, 0xff, 0xff, 0x7f]));
    await expect(opened).rejects.toMatchObject({ code: 'COLLECTOR_PROTOCOL' });
  });

  it('finds the same frames in chunks of any size', () => {
    const frame = Buffer.concat([Buffer.from([9, 0, 0, 0, 1, 0, 0, 0]), Buffer.from('Hwxyz')]);
    const stream = Buffer.concat(Array.from({ length: 10 }, () => frame));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sizes) => {
        const cutter = new FrameCutter();
        let count = 0;
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = sizes[i % sizes.length] as number;
          count += cutter.push(stream.subarray(at, at + size)).length;
          at += size;
        }
        expect(count).toBe(10);
      }),
    );
  });
});

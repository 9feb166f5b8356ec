import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import { openChangeSet } from '../../../../src/review/changeset/read-set.ts';
import { paddingOf, TAR_END, tarHeader } from '../../../../src/review/changeset/tar.ts';
import { changeSetBytes, exportableChanges } from '../../../../src/review/changeset/write-set.ts';

const origin = { session: '261121-140512-k7p', tool: '0.1.0', exported: '2026-11-21T14:05:12Z' };
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-set-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A change set that creates these files. */
function setOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const byDigest = new Map(Object.values(files).map((bytes) => [digestOf(bytes), bytes]));
  const changes = Object.entries(files).map(([name, bytes]) => ({
    path: name,
    kind: 'created',
    after: { kind: 'file', mode: 0o644, size: bytes.length, mtimeNs: '7', digest: digestOf(bytes) },
  })) as unknown as Change[];
  const store = { pieces: (digest: string) => [byDigest.get(digest) as Buffer] };
  return Buffer.concat([...changeSetBytes(origin, exportableChanges(changes).changes, store)]);
}

function put(bytes: Uint8Array): string {
  const file = path.join(dir, 'set');
  writeFileSync(file, bytes);
  return file;
}

/** The files of a change set, by digest. */
function contentsIn(bytes: Uint8Array): Record<string, Buffer> {
  using set = openChangeSet(put(bytes));
  const found: Record<string, Buffer> = {};
  for (const { content, pieces } of set.contents()) found[content.digest] = Buffer.concat([...pieces]);
  return found;
}

const valid = { 'a.txt': Buffer.from('one\n'), b: Buffer.alloc(0), c: Buffer.alloc(1500, 7) };
const entryOf = (name: string, bytes: Buffer): Buffer =>
  Buffer.concat([tarHeader({ name, size: bytes.length }), bytes, Buffer.alloc(paddingOf(bytes.length))]);

describe('a change set', () => {
  it('comes back as it was written, whatever the files', () => {
    const contents = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.uint8Array({ maxLength: 2000 }));
    fc.assert(
      fc.property(contents, (files) => {
        const given = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes)]));
        const found = contentsIn(setOf(given));
        const expected = Object.values(given).map((bytes) => [digestOf(bytes), bytes]);
        expect(found).toEqual(Object.fromEntries(expected));
      }),
      { numRuns: 100 },
    );
  });

  it('is listed by tar', () => {
    const listed = execFileSync('tar', ['-tf', put(setOf({ a: Buffer.from('x') }))], { encoding: 'utf8' });
    expect(listed).toBe(`manifest.json\ncontent/${digestOf(Buffer.from('x'))}\n`);
  });

  it('names nothing of the machine that wrote it', () => {
    const text = setOf(valid).toString('latin1');
    for (const word of [process.env['HOME'], process.env['USER'], '/work', 'mtime'])
      if (word !== undefined && word.length > 3) expect(text).not.toContain(word);
  });

  it('with any byte changed, cut off or added is refused or has the same content', () => {
    const bytes = setOf(valid);
    const expected = contentsIn(bytes);
    const change = fc.record({ at: fc.nat(bytes.length - 1), byte: fc.integer({ min: 0, max: 255 }) });
    const forged = fc.oneof(
      fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
        const copy = Buffer.from(bytes);
        for (const { at, byte } of changes) copy[at] = byte;
        return copy;
      }),
      fc.nat(bytes.length - 1).map((length) => bytes.subarray(0, length)),
      fc.uint8Array({ minLength: 1, maxLength: 2000 }).map((more) => Buffer.concat([bytes, more])),
      fc.uint8Array({ maxLength: 3000 }).map((any) => Buffer.from(any)),
    );
    fc.assert(
      fc.property(forged, (one) => {
        try {
          expect(contentsIn(one)).toEqual(expected);
        } catch (error) {
          if (!(error instanceof RunClaudeError)) throw error;
          expect(error.code).toBe('CHANGE_SET_REFUSED');
          expect(error.message).not.toContain('\n');
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('openChangeSet refuses', () => {
  const manifest = (): Buffer => {
    const bytes = setOf(valid);
    return bytes.subarray(0, 512 + Math.ceil(Number.parseInt(bytes.toString('latin1', 124, 135), 8) / 512) * 512);
  };
  const contents = (): Buffer[] =>
    Object.values(valid)
      .sort((a, b) => (digestOf(a) < digestOf(b) ? -1 : 1))
      .map((bytes) => entryOf(`content/${digestOf(bytes)}`, bytes));
  const sameSize = (name: string): Buffer => entryOf(name, Buffer.from('two\n'));

  it.each<[string, () => Buffer, RegExp]>([
    [
      'a content under another digest',
      () => Buffer.concat([manifest(), sameSize(`content/${digestOf(valid['a.txt'])}`), ...contents(), TAR_END]),
      /not those of its list|not have its digest/,
    ],
    [
      'contents in another order',
      () => Buffer.concat([manifest(), ...contents().reverse(), TAR_END]),
      /not those of its list/,
    ],
    [
      'a content twice',
      () => Buffer.concat([manifest(), ...contents(), contents()[0] as Buffer, TAR_END]),
      /not those of its list/,
    ],
    [
      'a content that no change has',
      () => Buffer.concat([manifest(), ...contents(), sameSize(`content/${'f'.repeat(64)}`), TAR_END]),
      /not those of its list/,
    ],
    ['a missing content', () => Buffer.concat([manifest(), ...contents().slice(1), TAR_END]), /not those of its list/],
    ['a file that ends in the middle', () => setOf(valid).subarray(0, 1900), /ends too early/],
    ['bytes after the end', () => Buffer.concat([setOf(valid), Buffer.alloc(512)]), /bytes after its end/],
    [
      'bytes between the files',
      () => {
        const bytes = setOf(valid);
        bytes[manifest().length - 1] = 1;
        return bytes;
      },
      /belong to no file/,
    ],
    ['a compressed file, before it is unpacked', () => gzipSync(Buffer.alloc(8 << 20)), /not a change set/],
    [
      'a manifest that says it has gigabytes',
      () => Buffer.concat([tarHeader({ name: 'manifest.json', size: 2 ** 32 }), Buffer.alloc(4096)]),
      /too long/,
    ],
    [
      'a manifest that is not JSON',
      () => Buffer.concat([entryOf('manifest.json', Buffer.from('{')), TAR_END]),
      /not a change set/,
    ],
    [
      'a manifest of brackets',
      () => Buffer.concat([entryOf('manifest.json', Buffer.from('['.repeat(1 << 18))), TAR_END]),
      /not a change set/,
    ],
    ['an empty file', () => Buffer.alloc(0), /ends too early/],
  ])('%s', (_, forge, why) => {
    expect(() => openChangeSet(put(forge()))).toThrow(why);
  });

  it('a link, a folder, a device and an extended header of a tar', () => {
    for (const type of ['1', '2', '3', '4', '5', '6', 'x', 'g', 'L', 'K', 'S']) {
      const bytes = setOf(valid);
      bytes.write(type, 156, 'latin1');
      // With a right checksum, as tar would write it.
      bytes.fill(' ', 148, 156);
      const sum = bytes.subarray(0, 512).reduce((all, byte) => all + byte, 0);
      bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
      expect(() => openChangeSet(put(bytes)), type).toThrow(/not a change set/);
    }
  });

  it('a folder, a FIFO and a path that does not exist', () => {
    expect(() => openChangeSet(dir)).toThrow(/not a regular file/);
    const fifo = path.join(dir, 'fifo');
    execFileSync('mkfifo', [fifo]);
    expect(() => openChangeSet(fifo)).toThrow(/not a regular file/);
    expect(() => openChangeSet(path.join(dir, 'none'))).toThrow(/no such file/);
  });

  it('a file that is replaced while it is imported', () => {
    const file = put(setOf(valid));
    using set = openChangeSet(file);
    const bytes = readFileSync(file);
    bytes[bytes.indexOf('one\n', 1024)] = 'X'.charCodeAt(0);
    writeFileSync(file, bytes);
    expect(() => {
      for (const { pieces } of set.contents()) for (const _ of pieces);
    }).toThrow(/does not have its digest/);
  });
});

it('follows a link that the user names', () => {
  put(setOf(valid));
  symlinkSync('set', path.join(dir, 'link'));
  using set = openChangeSet(path.join(dir, 'link'));
  expect(set.manifest.changes).toHaveLength(3);
});

describe('exportableChanges', () => {
  const change = (name: string, more: object = {}): Change =>
    ({
      path: name,
      kind: 'created',
      after: { kind: 'file', mode: 0o644, size: 1, mtimeNs: '1', digest: 'a'.repeat(64) },
      ...more,
    }) as Change;

  it('leaves out what no change set can hold, and names it', () => {
    const { changes, leftOut } = exportableChanges([
      change('a\x1b[2Jb'),
      change('plain'),
      change('Twin'),
      change('twin'),
      change('pipe', { after: { kind: 'fifo', mode: 0o644, size: 0, mtimeNs: '1' } }),
      change('.git/hooks/pre-commit', { inGit: true }),
    ]);
    expect(changes.map(({ path: one }) => one)).toEqual(['plain']);
    expect(leftOut).toEqual(['Twin', 'a\x1b[2Jb', 'pipe', 'twin']);
  });

  it('keeps what could not be read, without content', () => {
    const { changes } = exportableChanges([change('a', { problem: 'it changed while it was read' })]);
    expect(changes).toMatchObject([{ path: 'a', unreadable: true }]);
  });
});

import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { HashName } from '../../../../../src/environment/caches/ecosystem.ts';
import { startDigest } from '../../../../../src/environment/caches/inside/digest.ts';
import { sha } from '../../../../support/registry.ts';

const digestOf = (name: HashName, ...pieces: (string | Uint8Array)[]): string => {
  const digest = startDigest(name);
  for (const piece of pieces) digest.add(Buffer.from(piece));
  return digest.end();
};

/** A zip of these files, the second one compressed. */
function zipOf(files: readonly (readonly [string, string])[]): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [index, [name, text]] of files.entries()) {
    const [method, content] = index === 1 ? [8, deflateRawSync(text)] : [0, Buffer.from(text)];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(content.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    locals.push(local, Buffer.from(name), content);
    entries.push(entry, Buffer.from(name));
    at += 30 + name.length + content.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}

it('counts a plain hash over all pieces', () => {
  expect(digestOf('sha512', 'a', 'b')).toBe(sha('sha512', 'ab'));
});

describe('h1 of go.sum', () => {
  it('of a go.mod is over its line', () => {
    expect(digestOf('go-mod', 'module x\n')).toBe(sha('sha256', `${sha('sha256', 'module x\n')}  go.mod\n`));
  });

  it('of a module is over one line for each file, in the order of their names', () => {
    const lines = `${sha('sha256', 'first')}  m@v1/a\n${sha('sha256', 'second')}  m@v1/b\n`;
    const zip = zipOf([
      ['m@v1/b', 'second'],
      ['m@v1/a', 'first'],
    ]);
    expect(digestOf('go-zip', zip.subarray(0, 20), zip.subarray(20))).toBe(sha('sha256', lines));
  });

  it('does not exist for a go.mod that is larger than Go allows', () => {
    const piece = 'x'.repeat(1024 ** 2);
    expect(() => digestOf('go-mod', ...Array<string>(17).fill(piece))).toThrow('it is larger than Go allows');
  });

  it('is not that of files whose names hold lines', () => {
    const real = `${sha('sha256', 'one')}  m@v1/a\n${sha('sha256', 'two')}  m@v1/b\n`;
    const forged = zipOf([[`m@v1/a\n${sha('sha256', 'two')}  m@v1/b`, 'one']]);
    expect(sha('sha256', real)).toBe(
      digestOf(
        'go-zip',
        zipOf([
          ['m@v1/a', 'one'],
          ['m@v1/b', 'two'],
        ]),
      ),
    );
    expect(() => digestOf('go-zip', forged)).toThrow('it has a file name with a line break');
  });

  it('has a line for a directory, as Go counts it', () => {
    const lines = `${sha('sha256', '')}  m@v1/\n${sha('sha256', 'x')}  m@v1/a\n`;
    expect(
      digestOf(
        'go-zip',
        zipOf([
          ['m@v1/a', 'x'],
          ['m@v1/', ''],
        ]),
      ),
    ).toBe(sha('sha256', lines));
  });

  it('does not exist for two files of one name, and for what is not a zip', () => {
    const twice = zipOf([
      ['m@v1/a', 'shown'],
      ['m@v1/a', 'used'],
    ]);
    expect(() => digestOf('go-zip', twice)).toThrow('it has two files of one name');
    expect(() => digestOf('go-zip', 'PK'.repeat(40))).toThrow('it is not a zip');
    expect(() => digestOf('go-zip', '')).toThrow();
  });
});

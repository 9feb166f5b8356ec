import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBytes, encodeBytes, parseRelPath } from '../../../../src/core/text/path.ts';

describe('names as lossless text', () => {
  it('round-trips any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = decodeBytes(bytes);
        expect(encodeBytes(JSON.parse(JSON.stringify(text)) as string)).toEqual(Buffer.from(bytes));
      }),
    );
  });
  it('leaves ordinary names as they are', () => {
    expect(decodeBytes(Buffer.from('näme 🙂'))).toBe('näme 🙂');
  });
  it('refuses paths that lead out of a project', () => {
    for (const bad of ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', 'a\0b']) expect(parseRelPath(bad)).toBeUndefined();
    expect(parseRelPath('a/b.c')).toBe('a/b.c');
  });
});

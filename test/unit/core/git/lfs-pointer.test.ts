import { expect, it } from 'vitest';
import { lfsObjectPath, parseLfsPointer, writeLfsPointer } from '../../../../src/core/git/lfs-pointer.ts';

const oid = '0123456789abcdef'.repeat(4);
const whole = { oid, size: 70_000 };
const text = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 70000\n`;

it('reads a pointer as git-lfs writes it, and writes the same', () => {
  expect(writeLfsPointer(whole)).toBe(text);
  expect(parseLfsPointer(Buffer.from(text))).toEqual(whole);
  expect(parseLfsPointer(Buffer.from(text.replace('oid', 'ext-0-foo sha256:ab\noid')))).toEqual(whole);
  expect(lfsObjectPath(oid)).toBe(`objects/01/23/${oid}`);
});

it.each([
  ['another version', text.replace('v1', 'v2')],
  ['an object id that is a path', text.replace(oid, `../../${oid.slice(6)}`)],
  ['an object id in upper case', text.replace(oid, oid.toUpperCase())],
  ['a negative size', text.replace('70000', '-1')],
  ['a size that no number holds', text.replace('70000', '9'.repeat(30))],
  ['a line more', `${text}#!/bin/sh\n`],
  ['what is longer than a pointer', text.replace('oid', `ext-0-foo ${'x'.repeat(1024)}\noid`)],
  ['nothing', ''],
])('takes %s for content', (_, content) => {
  expect(parseLfsPointer(Buffer.from(content))).toBeUndefined();
});

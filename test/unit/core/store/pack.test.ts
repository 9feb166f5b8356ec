import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readPiece, writePack } from '../../../../src/core/store/pack.ts';

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-pack-'));
  file = path.join(dir, 'one.pack');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('gives back each content, and stores equal ones once', () => {
  const contents = ['one', '', 'two', 'one'].map((text) => Buffer.from(text));
  const pack = writePack(file);
  const pieces = contents.map((bytes) => pack.add(bytes));
  expect(readdirSync(dir)).not.toContain('one.pack');
  pack.finish();
  expect(readdirSync(dir)).toEqual(['one.pack']);
  expect(pieces.map((piece) => readPiece(file, piece))).toEqual(contents);
  expect(readFileSync(file, 'utf8')).toBe('onetwo');
});

it('leaves nothing of a pack that was abandoned, and the earlier one as it was', () => {
  const first = writePack(file);
  const piece = first.add(Buffer.from('first'));
  first.finish();
  const second = writePack(file);
  second.add(Buffer.from('second'));
  second.abandon();
  expect(readdirSync(dir)).toEqual(['one.pack']);
  expect(readPiece(file, piece).toString()).toBe('first');
});

it('refuses content that is not what was stored', () => {
  const pack = writePack(file);
  const piece = pack.add(Buffer.from('content'));
  pack.finish();
  writeFileSync(file, 'CONTENT');
  expect(() => readPiece(file, piece)).toThrow(expect.objectContaining({ code: 'CONTENT_DAMAGED' }));
  truncateSync(file, 3);
  expect(() => readPiece(file, piece)).toThrow(expect.objectContaining({ code: 'CONTENT_MISSING' }));
  rmSync(file);
  expect(() => readPiece(file, piece)).toThrow(expect.objectContaining({ code: 'CONTENT_MISSING' }));
});

it('says where it cannot write', () => {
  mkdirSync(file);
  const pack = writePack(file);
  expect(() => pack.finish()).toThrow(expect.objectContaining({ code: 'STORE_UNWRITABLE' }));
  expect(() => writePack(path.join('/proc/none', 'x.pack'))).toThrow(/cannot (write|be)/);
});

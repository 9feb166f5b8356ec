import { describe, expect, it } from 'vitest';
import { LastLine } from '../../../../src/core/progress/last-line.ts';

function lastOf(...pieces: readonly (string | Uint8Array)[]): string | undefined {
  const lines = new LastLine();
  for (const piece of pieces) lines.push(piece);
  return lines.line;
}

describe('the last line of a program', () => {
  it('is whole: pieces end anywhere, within a character too', () => {
    expect(lastOf('one\ntw')).toBe('one');
    expect(lastOf('one\ntw', 'o\nthree')).toBe('two');
    const bytes = Buffer.from('größer\n');
    expect(lastOf(bytes.subarray(0, 3), bytes.subarray(3))).toBe('größer');
  });

  it('takes a carriage return as an end, and passes over blank lines', () => {
    expect(lastOf('10%\r20%\r30')).toBe('20%');
    expect(lastOf('last words\r\n\n   \n')).toBe('last words');
    expect(lastOf('\n')).toBeUndefined();
  });

  it.each([
    ['colour', '\x1b[32mgreen\x1b[0m\n', 'green'],
    ['a title', '\x1b]0;owned\x07text\n', 'text'],
    ['a title ended by ST', '\x1b]0;owned\x1b\\text\n', 'text'],
    ['cursor movement', '\x1b[2J\x1b[1;1Htext\n', 'text'],
    ['C1 sequences', '\x9b31mred\n', 'red'],
    ['a sequence that never ends', 'text\x1b]0;never\n', 'text'],
    ['tabs', 'a\tb\n', 'a b'],
  ])('has no %s', (_, printed, expected) => {
    expect(lastOf(printed)).toBe(expected);
  });

  it('keeps the beginning of a line of any length, within bounded memory', () => {
    const lines = new LastLine();
    for (let at = 0; at < 2000; at++) lines.push('x'.repeat(1000));
    lines.push('\n');
    expect(lines.line?.length).toBeLessThanOrEqual(400);
    expect(lines.push('next\n')).toBe(true);
    expect(lines.push('ne')).toBe(false);
    expect(lines.line).toBe('next');
  });
});

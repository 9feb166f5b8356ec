import { describe, expect, it } from 'vitest';
import { anyOf, oneOf, pattern, wholeLine, words } from '../../../../src/audit/formats/words.ts';

describe('lists of words in expressions', () => {
  it('splits a list at white space and keeps backslashes', () => {
    expect(words`
      licen[cs]es? x\.y
      deno\x20run
    `).toEqual(['licen[cs]es?', String.raw`x\.y`, String.raw`deno\x20run`]);
  });

  it('makes the alternatives of an expression from a list', () => {
    expect(oneOf`a b\.c`).toBe(String.raw`a|b\.c`);
    expect(oneOf`
      a
    `).toBe('a');
  });

  it('puts lists into an expression that is otherwise written as a literal', () => {
    const list = oneOf`name licen[cs]e a\x20b`;
    const keys = pattern('i')`^(${list})(\.|$)`;
    expect(keys).toEqual(/^(name|licen[cs]e|a\x20b)(\.|$)/i);
    expect(keys.test('LICENSE.text')).toBe(true);
    expect(keys.test('a b')).toBe(true);
    expect(keys.test('names')).toBe(false);
    expect(pattern()`x`.flags).toBe('');
  });

  it('joins parts into one expression with their flags', () => {
    expect(anyOf(/a|b/gi, /^c$/gi)).toEqual(/a|b|^c$/gi);
    expect(() => anyOf(/a/, /b/i)).toThrow(TypeError);
  });

  it('matches a line that is one of the parts as a whole', () => {
    const line = wholeLine(/a|b/i, /c+/i);
    expect(line).toEqual(/^(a|b|c+)$/i);
    expect(['A', 'ccc', 'ab', 'xa', 'cb'].map((text) => line.test(text))).toEqual([true, true, false, false, false]);
  });
});

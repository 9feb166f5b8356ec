import { describe, expect, it } from 'vitest';
import { wrapWords } from '../../../src/terminal/columns/wrap-words.ts';

describe('wrapping messages', () => {
  it('breaks at blanks only: a path, an id or an option that is longer than a line stays whole', () => {
    const path = `/home/person/${'deep/'.repeat(20)}file.txt`;
    expect(wrapWords(`cannot read ${path} of it`, 40)).toEqual(['cannot read', path, 'of it']);
    for (let columns = 20; columns < 100; columns += 1) {
      const text = 'What was held back waits in session 20261122-101500-abcd: run-claude apply 20261122-101500-abcd';
      const lines = wrapWords(text, columns);
      expect(lines.join(' ')).toBe(text);
      for (const line of lines) expect(line.length <= columns || !line.trim().includes(' ')).toBe(true);
    }
  });

  it('keeps a command in one line, with what quotes it', () => {
    const text = "Nothing is lost, and later 'run-claude diff --follow 20261122-abcd' shows it";
    for (let columns = 45; columns < 76; columns += 1) {
      const lines = wrapWords(text, columns);
      expect(lines.some((line) => line.includes("'run-claude diff --follow 20261122-abcd'"))).toBe(true);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  it('indents below the value of a name, and counts wide characters as two columns and colours as none', () => {
    expect(wrapWords('network     the provider and package registries only', 32)).toEqual([
      'network     the provider and',
      '            package registries',
      '            only',
    ]);
    expect(wrapWords('日本語日本語 日本語日本語', 24)).toEqual(['日本語日本語', '日本語日本語']);
    expect(wrapWords('\x1b[33mtwenty columns, these\x1b[39m', 21)).toHaveLength(1);
    expect(wrapWords('a line that fits', 80)).toEqual(['a line that fits']);
    expect(wrapWords('for a pipe '.repeat(50), Number.POSITIVE_INFINITY)).toHaveLength(1);
  });
});

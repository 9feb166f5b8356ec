import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { costText } from '../../../../src/core/text/cost.ts';
import { localPort } from '../../../../src/core/text/local-address.ts';
import { shellWord } from '../../../../src/core/text/shell-word.ts';
import { visible } from '../../../../src/core/text/visible.ts';

it.each([
  [0, 'under $0.01 at list prices'],
  [0.0099, 'under $0.01 at list prices'],
  [0.01, 'about $0.01 at list prices'],
  [12.345, 'about $12.35 at list prices'],
])('costs of %d are %s', (usd, text) => {
  expect(costText(usd)).toBe(text);
});

describe('the port of an address of this machine', () => {
  it.each([
    ['http://localhost:3000/mcp', 3000],
    ['http://127.0.0.1:80', 80],
  ])('%s', (address, port) => {
    expect(localPort(address)).toBe(port);
  });

  it.each([
    'https://localhost:3000/',
    'http://localhost/',
    'http://localhost:0/',
    'http://localhost:3000@example.org/',
    'http://localhost.example.org:3000/',
    'http://127.0.0.1:300000/',
    ' http://localhost:3000/',
  ])('%s has none', (address) => {
    expect(localPort(address)).toBeUndefined();
  });
});

it('a shell reads a quoted word as it was', () => {
  const words = ['', 'plain', "it's", '$HOME `id` $(id)', 'a b\nc', '*', '~', '-n', '#x', '\\', '"', 'a;b|c&d', 'é'];
  const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
  expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(words);
  expect(shellWord('src/a-b.ts')).toBe('src/a-b.ts');
});

describe('visible text', () => {
  it.each([
    ['a bidirectional override', 'a\u202eb', 'a\\u{202e}b'],
    ['a control character', '\u001b[31m', '\\u{1b}[31m'],
    ['a line end', 'a\nb', 'a\\u{a}b'],
    ['a zero width space', 'a\u200bb', 'a\\u{200b}b'],
    ['a tag', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a lone surrogate', 'a\ud800', 'a\\u{d800}'],
    ['a variation selector', 'a\ufe0f', 'a\\u{fe0f}'],
  ])('%s is an escape', (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('letters of every script stay', () => {
    expect(visible('naïve 日本 עברית')).toBe('naïve 日本 עברית');
  });
});

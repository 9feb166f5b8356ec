import { expect, it } from 'vitest';
import { printable } from '../../../../src/engines/remote/printable.ts';

it.each<[unknown, string]>([
  ['one\ntwo\u001b[31m', 'one two [31m'],
  ['x'.repeat(900), 'x'.repeat(500)],
  [undefined, ''],
  [{ toString: 1 }, ''],
])('makes of %j one line that acts on no terminal', (text, shown) => expect(printable(text)).toBe(shown));

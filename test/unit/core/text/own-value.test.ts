import { expect, it } from 'vitest';
import { ownValue } from '../../../../src/core/text/own-value.ts';

it('has what a table says, and nothing that every object has', () => {
  expect(ownValue({ a: 1 }, 'a')).toBe(1);
  for (const name of ['b', 'constructor', '__proto__', 'toString']) expect(ownValue({ a: 1 }, name)).toBeUndefined();
});

import { expect, it } from 'vitest';
import { asObject, jsonIn, parseObject } from '../../../../src/core/text/json-in.ts';

it('reads JSON, and has nothing for a text that is not JSON', () => {
  expect(['{"a":1}', '[1]', 'null', '', '{'].map(jsonIn)).toEqual([{ a: 1 }, [1], null, undefined, undefined]);
});

it('takes objects only', () => {
  expect(['{"a":1}', '[1]', 'null', '"a"', '{'].map(parseObject)).toEqual([
    { a: 1 },
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  const read = asObject(JSON.parse('{"__proto__": {"a": 1}}'));
  expect([Object.keys(read ?? {}), ({} as { a?: number }).a]).toEqual([['__proto__'], undefined]);
});

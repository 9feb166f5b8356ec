import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CopiedValues, isTelling } from '../../../../src/core/secrets/copied-values.ts';

const VALUE = 'correct-horse-battery-9';
const values = new CopiedValues([
  { path: '.env', name: 'PASSWORD', value: VALUE },
  { path: 'a.env', name: 'LONGER', value: `${VALUE}-and-more` },
  { path: '.env', name: 'VITE_KEY', value: 'published-by-builds-7' },
  { path: '.env', name: 'SHORT', value: 'hunter2' },
]);
const sources = (text: string | Buffer) => values.sourcesIn(Buffer.from(text as string)).toSorted();
const replaced = (text: string) => values.replaceIn(Buffer.from(text), ({ name }) => `<${name}>`)?.toString();

it.each([
  ['hunter2', false],
  ['aaaaaaaaaaaaaaaa', false],
  [VALUE, true],
])('whether %s is somewhere by chance', (value, isCopy) => expect(isTelling(value)).toBe(isCopy));

describe('secrets of other files', () => {
  it.each([
    ['as they are', `x ${VALUE} y`, ['.env']],
    ['in base64', Buffer.from(`x ${VALUE}`).toString('base64'), ['.env']],
    ['in gzip', gzipSync(`x ${VALUE}`), ['.env']],
    ['two at one place', `${VALUE}-and-more`, ['.env', 'a.env']],
    ['not keys that builds publish, nor short ones', 'published-by-builds-7 hunter2', []],
  ])('are found %s', (_what, text, wanted) => expect(sources(text)).toEqual(wanted));

  it('are replaced, the longer one first; not in another spelling', () => {
    expect(replaced(`é ${VALUE}-and-more, ${VALUE}`)).toBe('é <LONGER>, <PASSWORD>');
    expect(replaced('nothing')).toBe('nothing');
    expect(replaced(Buffer.from(VALUE).toString('hex'))).toBeUndefined();
  });
});

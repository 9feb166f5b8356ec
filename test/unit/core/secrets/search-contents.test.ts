import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MAX_INFLATED_BYTES, searchContents } from '../../../../src/core/secrets/search-contents.ts';
import { piecesOf } from '../../../../src/core/secrets/spellings.ts';
import { SearchedValues } from '../../../../src/core/secrets/value-search.ts';

const TOKEN = 'sk_live_51Hq8ZkLmN0pQrStUvWxYz';
const PASSWORD = 'p%4w"o/r+d\\9Kx';
const VALUES = new SearchedValues([TOKEN, PASSWORD]);

const found = (bytes: string | Uint8Array): number[] => [...searchContents(VALUES, Buffer.from(bytes))];
const base64At = (before: number, text: string): string =>
  Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from(text), Buffer.from('yz')]).toString('base64');

describe('a value in some contents', () => {
  it.each([
    ['as it is', `curl -H "Authorization: Bearer ${TOKEN}"`],
    ['reversed', [...TOKEN].reverse().join('')],
    ['in hexadecimal', Buffer.from(TOKEN).toString('hex')],
    ['in upper-case hexadecimal', Buffer.from(TOKEN).toString('hex').toUpperCase()],
    ['in base64, first alignment', base64At(0, TOKEN)],
    ['in base64, second alignment', base64At(1, TOKEN)],
    ['in base64, third alignment', base64At(2, TOKEN)],
    ['in base64 for URLs', Buffer.from(`k?>~${TOKEN}`).toString('base64url')],
    ['in base64 with lines', base64At(7, TOKEN).replace(/.{9}/g, '$&\r\n')],
    ['with every character escaped for a URL', TOKEN.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)],
    ['in base64 that is escaped for a URL', encodeURIComponent(base64At(1, `${TOKEN}???>>>`))],
    ['escaped for JSON', TOKEN.replace(/./g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)],
    ['with escapes of a shell', TOKEN.replace(/./g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)],
    ['over line breaks', TOKEN.replace(/.{5}/g, '$&\n  ')],
    ['over escaped line breaks', TOKEN.replace(/.{5}/g, '$&\\n')],
  ])('is found %s', (_, text) => {
    expect(found(text)).toEqual([0]);
  });

  it('is found with characters that the escapes of URLs and JSON use', () => {
    expect(found(PASSWORD)).toEqual([1]);
    expect(found(JSON.stringify({ PASSWORD }))).toEqual([1]);
    expect(found(encodeURIComponent(PASSWORD))).toEqual([1]);
    expect(found(encodeURIComponent(JSON.stringify({ PASSWORD })).toLowerCase())).toEqual([]);
  });

  it('is found in gzip, also where it begins later, where its end is missing, and in gzip again', () => {
    const packed = gzipSync(`${'line of a log\n'.repeat(50)}${TOKEN}\n`);
    expect(found(packed)).toEqual([0]);
    expect(found(Buffer.concat([Buffer.from('--boundary\r\n\r\n'), packed, Buffer.from('\r\n--')]))).toEqual([0]);
    expect(found(packed.subarray(0, -9))).toEqual([0]);
    expect(found(gzipSync(packed))).toEqual([0]);
    const named = Buffer.concat([
      packed.subarray(0, 3),
      Buffer.of(8 + 2),
      packed.subarray(4, 10),
      Buffer.from('a.log\0##'),
    ]);
    expect(found(Buffer.concat([named, packed.subarray(10)]))).toEqual([0]);
  });

  it('is found at the beginning of gzip that holds too much', () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from(TOKEN), Buffer.alloc(MAX_INFLATED_BYTES + 1)]));
    expect(found(bomb)).toEqual([0]);
  });

  it('is not found where it is not', () => {
    expect(found('sk_live_ and sk_test_51Hq8ZkLmN0pQrStUvWxYz in other words')).toEqual([]);
    expect(found(Buffer.from('1f8b08000000', 'hex'))).toEqual([]);
  });
});

describe('a name of a host', () => {
  it.each([
    ['as it is', TOKEN],
    ['in hexadecimal', Buffer.from(TOKEN).toString('hex')],
    ['over labels', Buffer.from(TOKEN).toString('hex').replace(/.{20}/g, '$&.')],
    ['in lower case', TOKEN.toLowerCase()],
    ['in base64 for URLs', Buffer.from(`a${TOKEN}`).toString('base64url')],
  ])('has a value %s', (_, label) => {
    expect(VALUES.inName(`${label}.example.com`)).toEqual([0]);
  });

  it('has a value in base32', () => {
    const values = new SearchedValues(['foobarfoo9']);
    // RFC 4648: "foobar" is MZXW6YTBOI.
    expect(values.inName('mzxw6ytboizg633z.example.com')).toEqual([]);
    expect(values.inName(`${base32('xx-foobarfoo9-x')}.example.com`)).toEqual([0]);
  });

  it('has none', () => {
    expect(VALUES.inName('registry.npmjs.org')).toEqual([]);
  });
});

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((one) => one.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five, 2)])
    .join('');
}

describe('a search over a stream', () => {
  it('finds what spans chunks, wherever they are cut', () => {
    const texts = [TOKEN, encodeURIComponent(`"${TOKEN}"`).replaceAll('_', '%5f'), base64At(2, TOKEN)];
    for (const text of texts)
      for (let cut = 1; cut < text.length; cut += 1) {
        const search = VALUES.search();
        search.push(Buffer.from(text.slice(0, cut)));
        search.push(Buffer.from(text.slice(cut)));
        expect([...search.found], `${text} cut at ${cut}`).toEqual([0]);
      }
  });

  it('takes at most two steps for each byte, however many values there are', () => {
    const many = new SearchedValues(
      Array.from({ length: 300 }, (_, index) => `value-${index}-${'aB3'.repeat(index % 9)}`),
    );
    for (const text of ['a'.repeat(50_000), 'value-'.repeat(9000), '%76alue-\\'.repeat(6000)]) {
      const search = many.search();
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 1000) search.push(bytes.subarray(at, at + 1000));
      expect(search.steps).toBeLessThanOrEqual(2 * bytes.length);
    }
  });
});

describe('the pieces of a value', () => {
  it('are the password of a URL, and nothing of its host', () => {
    expect(piecesOf('postgres://app:Xk2-lq93ZbT@db.internal.example:5432/app')).toEqual(['Xk2-lq93ZbT']);
  });

  it('are three parts of a key, without its armour', () => {
    const lines = Array.from({ length: 26 }, (_, line) => Buffer.alloc(48, `${line}, a line`).toString('base64'));
    const pieces = piecesOf(`-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`);
    expect(pieces.map((one) => one.length)).toEqual([32, 32, 32]);
    expect(pieces.join('')).not.toMatch(/[-\n]/);
  });

  it('are none of a value that is short, or repeats itself', () => {
    expect(piecesOf('hunter2')).toEqual([]);
    expect(piecesOf('aaaaaaaaaaaaaaaa')).toEqual([]);
    for (const number of ['48201739', '2026-11-28', 'a1b2c3d4']) expect(piecesOf(number)).toEqual([]);
    for (const value of ['482017395526', 'xkqmvpez', 'k3x9qm2v']) expect(piecesOf(value)).toEqual([value]);
  });
});

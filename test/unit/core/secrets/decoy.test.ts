import { createPrivateKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveDecoy } from '../../../../src/core/secrets/decoy.ts';
import { FORMATS } from '../../../../src/core/secrets/formats.ts';
import { maskedBytes } from '../../../../src/core/secrets/masked-bytes.ts';
import { maskedText, secretValues } from '../../../../src/core/secrets/values.ts';

const KEY = Buffer.alloc(32, 7);
const PLACE = { path: '.env', name: 'A' };
const WORD = 'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6Jd1Gf0SaEuTiOoPqWxZyKlMnHgFrDsCvBj';
const HEX = '9f3a7c1e5b8d2f604a6e9c3b7d15f08e2c4a6b8d0f1e3a5c7b9d2e4f6a8c0b1d';
const w = (length: number): string => WORD.repeat(Math.ceil(length / WORD.length)).slice(0, length);
const masked = (path: string, text: string): string =>
  maskedText(path, text, ({ name, value }) =>
    deriveDecoy(KEY, { path, ...(name === undefined ? {} : { name }) }, value),
  );

describe('a decoy', () => {
  test.each([
    ['Stripe', `sk_live_${w(24)}`, /^sk_live_[A-Za-z0-9]{24}$/],
    ['GitHub', `ghp_${w(36)}`, /^ghp_[A-Za-z0-9]{36}$/],
    ['AWS', `AKIA${'QWERTYUIOP234567'}`, /^AKIA[A-Z2-7]{16}$/],
    ['Google', `AIza${w(35)}`, /^AIza[A-Za-z0-9]{35}$/],
    ['Anthropic', `sk-ant-api03-${w(40)}`, /^sk-ant-api03-[A-Za-z0-9]{40}$/],
    ['OpenAI', `sk-proj-${w(30)}T3BlbkFJ${w(30)}`, /^sk-proj-\w{30}T3BlbkFJ\w{30}$/],
    ['hexadecimal', HEX, /^[0-9a-f]{64}$/],
    ['Slack', `xoxb-123456789012-${w(24)}`, /^xoxb-\d{12}-[A-Za-z0-9]{24}$/],
  ])('of %s has the form of its kind', (_, value, form) => {
    const decoy = deriveDecoy(KEY, PLACE, value);
    expect(decoy).toMatch(form);
    expect(decoy).toHaveLength(value.length);
    expect(decoy).not.toBe(value);
    expect(FORMATS.filter(([, , secret]) => secret.test(value)).map(([kind]) => kind)).toEqual(
      FORMATS.filter(([, , secret]) => secret.test(decoy)).map(([kind]) => kind),
    );
  });

  test('follows from the key, the place and the value', () => {
    const decoy = deriveDecoy(KEY, PLACE, 'hunter2hunter2');
    expect(deriveDecoy(Buffer.from(KEY), { ...PLACE }, 'hunter2hunter2')).toBe(decoy);
    expect(deriveDecoy(Buffer.alloc(32, 8), PLACE, 'hunter2hunter2')).not.toBe(decoy);
    expect(deriveDecoy(KEY, { path: '.env', name: 'B' }, 'hunter2hunter2')).not.toBe(decoy);
    expect(deriveDecoy(KEY, { path: 'b/.env', name: 'A' }, 'hunter2hunter2')).not.toBe(decoy);
  });

  test('keeps length and classes, and is never the value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), (value) => {
        const decoy = deriveDecoy(KEY, PLACE, value);
        expect(decoy).toHaveLength(value.length);
        if (/[^\s"'\\]/.test(value.replaceAll(/\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S]?)/g, '')))
          expect(decoy).not.toBe(value);
      }),
    );
  });

  test('keeps the escapes of a string', () => {
    expect(deriveDecoy(KEY, PLACE, String.raw`ab\n12\"\u00e9x`)).toMatch(/^[a-z]{2}\\n\d{2}\\"\\u00e9[a-z]$/);
  });

  test('of a token is one that a program can read', () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = [part({ alg: 'HS256', typ: 'JWT' }), part({ sub: 'somebody', admin: true }), w(43)].join('.');
    const decoy = deriveDecoy(KEY, PLACE, token);
    expect(decoy).toHaveLength(token.length);
    expect(decoy.split('.')[2]).not.toBe(w(43));
    expect(JSON.parse(Buffer.from(decoy.split('.')[1] ?? '', 'base64url').toString())).toEqual({
      sub: expect.any(String),
    });
  });

  test('of a login keeps the user', () => {
    const login = Buffer.from('app:hunter2').toString('base64');
    expect(Buffer.from(deriveDecoy(KEY, PLACE, login), 'base64').toString()).toMatch(/^app:[a-z]{6}\d$/);
  });

  test.each(['', 'EC '])('of a key block "%s" is a valid key', (kind) => {
    const block = `-----BEGIN ${kind}PRIVATE ${'KEY'}-----\n${w(64)}\n-----END ${kind}PRIVATE ${'KEY'}-----`;
    expect(createPrivateKey(deriveDecoy(KEY, PLACE, block)).type).toBe('private');
    const escaped = deriveDecoy(KEY, PLACE, block.replaceAll('\n', '\\n'));
    expect(createPrivateKey(escaped.replaceAll('\\n', '\n')).type).toBe('private');
  });

  test('of another key block has its armor and its size', () => {
    const block = `-----BEGIN DSA PRIVATE ${'KEY'}-----\n${w(64)}\n${w(64)}\n-----END DSA PRIVATE ${'KEY'}-----`;
    const decoy = deriveDecoy(KEY, PLACE, block);
    expect(decoy.split('\n').map((line) => line.length)).toEqual(block.split('\n').map((line) => line.length));
    expect(decoy).not.toContain(w(20));
  });
});

const secretWord = fc
  .stringMatching(/^[A-Za-z0-9]{12,30}$/)
  .filter((one) => /\d/.test(one) && /[a-z]/.test(one) && !/^[-_x*]/i.test(one));
const line = fc.oneof(
  fc
    .tuple(fc.constantFrom('DB_PASSWORD', 'apiKey', 'GH_TOKEN', 'CLIENT_SECRET'), secretWord)
    .map(([name, value]) => ({ name, value })),
  fc
    .constantFrom('PORT=3000', 'NODE_ENV=development', '# a comment', '', 'URL=https://example.com/a')
    .map((text) => ({ text })),
);

describe('masking', () => {
  test.each([
    ['environment', '.env', (name: string, value: string): string => `${name}=${value}`],
    ['quoted', '.env', (name: string, value: string): string => `export ${name}="${value}"`],
    ['YAML', 'secrets.yml', (name: string, value: string): string => `${name}: '${value}'`],
    ['properties', 'gradle.properties', (name: string, value: string): string => `${name} = ${value}\r`],
  ])('%s: no real value remains, all else does, and the result is stable', (_, path, write) => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const text = lines.map((one) => ('text' in one ? one.text : write(one.name, one.value))).join('\n');
        const result = masked(path, text);
        const rows = result.split('\n');
        expect(rows).toHaveLength(lines.length === 0 ? 1 : lines.length);
        for (const [index, one] of lines.entries())
          if ('text' in one) expect(rows[index]).toBe(one.text);
          else {
            expect(rows[index]).not.toContain(one.value);
            expect(rows[index]?.startsWith(write(one.name, '').slice(0, one.name.length))).toBe(true);
          }
        const places = ({ start, end }: { readonly start: number; readonly end: number }): string => `${start}-${end}`;
        expect(secretValues(path, result).map(places)).toEqual(secretValues(path, text).map(places));
        expect(masked(path, text)).toBe(result);
      }),
      { numRuns: 300 },
    );
  });

  test('bytes that are no text stay', () => {
    const bytes = Buffer.concat([Buffer.from('A='), Buffer.from([0xe9, 0xff]), Buffer.from('\nDB_PASSWORD=hunter2\n')]);
    const result = maskedBytes('.env', bytes, () => 'decoy12');
    expect(result?.toString('latin1')).toBe('A=\u00e9\u00ff\nDB_PASSWORD=decoy12\n');
    expect(maskedBytes('.env', Buffer.from('PORT=1\n'), () => 'no')).toBeUndefined();
  });

  test('UTF-16 is read as such', () => {
    const bytes = Buffer.from('\uFEFFDB_PASSWORD=hunter2\r\n', 'utf16le');
    expect(maskedBytes('.env', bytes, () => 'decoy12')?.toString('utf16le')).toBe('\uFEFFDB_PASSWORD=decoy12\r\n');
  });

  test('a key store and a binary key become empty', () => {
    expect(maskedBytes('a.p12', Buffer.from([1, 2]), () => 'no')).toHaveLength(0);
    expect(maskedBytes('a.key', Buffer.from([0x30, 0x82, 0, 1]), () => 'no')).toHaveLength(0);
    expect(maskedBytes('talk.key', Buffer.from('PK\u0003\u0004\0\0'), () => 'no')).toBeUndefined();
  });
});

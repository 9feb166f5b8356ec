import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseUser } from '../../../../src/core/host/user.ts';

it.each([
  ['0:0', { uid: 0, gid: 0 }],
  ['1000:100', { uid: 1000, gid: 100 }],
  ['4294967294:4294967294', { uid: 4_294_967_294, gid: 4_294_967_294 }],
])('reads %s', (user, ids) => {
  expect(parseUser(user)).toEqual(ids);
});

it.each([
  '',
  ':',
  '1000',
  '1000:',
  ':1000',
  'root:root',
  '-1:0',
  '1:2:3',
  ' 1:2',
  '1:2\n',
  '01:2',
  '1e3:0',
  '0x1:0',
  '4294967295:0',
])('refuses %j', (user) => {
  expect(() => parseUser(user)).toThrow(expect.objectContaining({ code: 'USER_INVALID' }));
});

it('is the only parser of users in src/', () => {
  const src = path.resolve(import.meta.dirname, '../../../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(
    files.filter((file) => /[uU]ser[?!]?\.(?:split|match|indexOf)\(/.test(readFileSync(path.join(src, file), 'utf8'))),
  ).toEqual([]);
});

import { expect, it } from 'vitest';
import { isOfPackage, isSameVersion, plainName } from '../../../../src/core/text/python-release.ts';

it('a name has one plain form', () => {
  expect(['My_Lib.x', 'my--lib-X'].map(plainName)).toEqual(['my-lib-x', 'my-lib-x']);
});

it.each([
  ['1.0', '1'],
  ['1.0.0', 'v1.0'],
  ['01.2', '1.2'],
  ['1.0-beta.2', '1.0b2'],
  ['1.0c1', '1.0.preview1'],
  ['1.0a', '1.0alpha0'],
  ['1.0-1', '1.0.post1'],
  ['1.0-r4', '1.0post4'],
  ['1.0.dev', '1.0.dev0'],
  ['0!1.0', '1.0'],
  ['1.0+Ubuntu-1', '1.0+ubuntu.1'],
  ['1.0_local.1', '1.0+local.1'],
  ['banana', 'BANANA'],
])('%s is %s', (one, other) => {
  expect([isSameVersion(one, other), isSameVersion(other, one)]).toEqual([true, true]);
});

it.each([
  ['1.10', '1.1.0'],
  ['1.10', '1.1'],
  ['11.0', '1.1.0'],
  ['1.1.0.1', '1.10.1'],
  ['1.0b2', '1.0rc2'],
  ['1.0.post1', '1.0.dev1'],
  ['1.0.1', '1.0.post1'],
  ['1!1.0', '1.0'],
  ['1.0+1', '1.0'],
  ['1.0+1', '1.0.1'],
  ['banana', '1.0'],
])('%s is not %s', (one, other) => {
  expect([isSameVersion(one, other), isSameVersion(other, one)]).toEqual([false, false]);
});

it.each([
  ['lib-1.0-py3-none-any.whl', 'lib', '1.0', true],
  ['lib-1.0-1-py3-none-any.whl', 'lib', '1.0', true],
  ['My.Lib_two-1.0-py2.py3-none-any.whl', 'my-lib-two', '1', true],
  ['my-lib-two-1.0.tar.gz', 'my-lib-two', '1.0', true],
  ['lib-2-1.0.tar.gz', 'lib-2', '1.0', true],
  ['lib-1.0-post1.tar.gz', 'lib', '1.0.post1', true],
  ['lib-1.0.tar.gz', 'lib', undefined, true],
  ['lib-21.0.tar.gz', 'lib-2', '1.0', false],
  ['lib-2-1.0.tar.gz', 'lib', '1.0', false],
  ['lib-1.10.tar.gz', 'lib', '1.1.0', false],
  ['lib-two-1.0.tar.gz', 'lib', undefined, false],
  ['lib.zip', 'lib', undefined, false],
])('%s, as %s %s: %s', (file, name, version, expected) => {
  expect(isOfPackage(file, name, version)).toBe(expected);
});

import { expect, it } from 'vitest';
import { type CacheInputs, cacheAddress } from '../../../src/caches/place.ts';

const INPUTS: CacheInputs = {
  ecosystem: 'npm',
  locks: [{ file: 'package-lock.json', content: Buffer.from('{}') }],
  image: 'run-claude:0',
  user: '1000:1000',
};

it.each<[string, Partial<CacheInputs>]>([
  ['lock file', { locks: [{ file: 'package-lock.json', content: Buffer.from('{ }') }] }],
  ['place of the lock file', { locks: [{ file: 'a/package-lock.json', content: Buffer.from('{}') }] }],
  ['ecosystem', { ecosystem: 'yarn' }],
  ['image', { image: 'run-claude:1' }],
  ['user', { user: '0:0' }],
])('another %s has another address', (_, part) => {
  expect(cacheAddress({ ...INPUTS, ...part })).not.toBe(cacheAddress(INPUTS));
});

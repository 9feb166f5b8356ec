import { expect, it } from 'vitest';
import type { EngineFacts } from '../../../../src/core/types/engine.ts';
import { type CacheInputs, cacheAddress, cacheMount } from '../../../../src/environment/caches/place.ts';

const INPUTS: CacheInputs = {
  ecosystem: 'npm',
  locks: [{ file: 'package-lock.json', content: Buffer.from('{}') }],
  image: 'run-claude:0',
  user: '1000:1000',
  owner: '0',
};

it.each<[string, Partial<CacheInputs>]>([
  ['lock file', { locks: [{ file: 'package-lock.json', content: Buffer.from('{ }') }] }],
  ['place of the lock file', { locks: [{ file: 'a/package-lock.json', content: Buffer.from('{}') }] }],
  ['ecosystem', { ecosystem: 'yarn' }],
  ['image', { image: 'run-claude:1' }],
  ['user', { user: '0:0' }],
  ['user of the engine', { owner: '1' }],
])('another %s has another address', (_, part) => {
  expect(cacheAddress({ ...INPUTS, ...part })).not.toBe(cacheAddress(INPUTS));
});

it.each([true, false])('a session never has a cache writable (engine on this machine: %s)', (local) => {
  const facts = { local, rootless: false, usernsRemap: false } as EngineFacts;
  const session = { user: `${process.getuid?.()}:${process.getgid?.()}`, image: 'i', sessionId: 's' };
  const mount = cacheMount(facts, { ecosystem: 'npm', address: 'a', dir: '/c/a' }, session);
  expect(mount).toMatchObject({ readonly: true, target: '/var/cache/run-claude/npm', kind: local ? 'bind' : 'volume' });
});

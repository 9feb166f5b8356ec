import { expect, it } from 'vitest';
import type { CacheName } from '../../../../src/core/types/setup/cache.ts';
import type { Ecosystem } from '../../../../src/environment/caches/ecosystem.ts';
import { ecosystemOf } from '../../../../src/environment/caches/ecosystems.ts';
import { lockText } from '../../../../src/environment/caches/lock-text.ts';

const read = (name: CacheName, text: string): ReturnType<Ecosystem['read']> => ecosystemOf(name).read(text, '');

it('refuses a lock file with conflicts of a merge, and one that is not text', () => {
  expect(lockText(Buffer.from('# ===== a\nlib==1.0\n'))).toBe('# ===== a\nlib==1.0\n');
  const conflict = 'a==1\n<<<<<<< HEAD\nb==1\n=======\nb==2\n>>>>>>> other\n';
  for (const text of [conflict, conflict.replaceAll('\n', '\r\n')])
    expect(() => lockText(Buffer.from(text))).toThrow('it has conflicts of a merge');
  for (const bytes of [
    [0x61, 0],
    [0xff, 0xfe, 0x61],
  ])
    expect(() => lockText(Buffer.from(bytes))).toThrow('it is not text in UTF-8');
});

it.each<[CacheName, string, string]>([
  ['npm', '{"lockfileVersion": 4, "packages": {}}', 'version 4 of its form is unknown (known: 1, 2, 3)'],
  ['npm', '{"lockfileVersion": "x\\n", "packages": {}}', 'version of its form is unknown (known: 1, 2, 3)'],
  ['pnpm', "lockfileVersion: '10.0'\n\npackages:\n", 'version 10 of its form is unknown (known: 5, 6, 7, 9)'],
  ['yarn', '# yarn lockfile v2\n\n', 'version 2 of its form is unknown (known: 1)'],
  ['cargo', 'version = 5\n\n[[package]]\n', 'version 5 of its form is unknown (known: 1, 2, 3, 4)'],
])('%s: refuses a lock file of an unknown version: %s', (name, text, why) => {
  expect(() => read(name, text)).toThrow(why);
});

it.each<[CacheName, string]>([
  ['npm', '{"lockfileVersion": 3, "packages": {}}'],
  ['pnpm', "lockfileVersion: '9.0'\n"],
  ['pnpm', 'lockfileVersion: 5.4\n'],
  ['yarn', '# yarn lockfile v1\n'],
  ['cargo', '[[package]]\nname = "a"\nversion = "9.0.0"\n'],
  ['cargo', 'version = 4\n'],
])('%s: reads a lock file of a known version: %s', (name, text) => {
  expect(read(name, text).archives.filter(({ text: own }) => own === undefined)).toEqual([]);
});

it('gradle: refuses half of a verification file', () => {
  expect(() => read('gradle', '<verification-metadata><components>')).toThrow('it has no end');
});

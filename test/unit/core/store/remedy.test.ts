import { expect, it } from 'vitest';
import { isFullDisk, remedyOf } from '../../../../src/core/store/remedy.ts';

it.each([
  ['ENOSPC: no space left on device, write', 'run-claude discard ID'],
  ['Unknown system error -122: write', 'quota'],
  ['EMFILE: too many open files, open x', 'ulimit -n'],
  ['ENFILE: file table overflow, open x', 'ulimit -n'],
  ['spawn /usr/bin/rm EAGAIN', 'ulimit -u'],
  ['spawn ENOMEM', 'memory'],
  ['ENOMEM: not enough memory, read', 'memory'],
])('%s: names the next step', (message, remedy) => {
  expect(remedyOf(new Error(message))).toContain(remedy);
});

it('has no remedy for other errors, and finds a full disk behind an error that it caused', () => {
  expect(remedyOf(new Error('ENOENT: no such file'))).toBeUndefined();
  const full = new Error('ENOSPC: no space left on device, write');
  expect([isFullDisk(full), isFullDisk(new Error('cannot write x', { cause: full }))]).toEqual([true, true]);
  expect([isFullDisk(new Error('EIO: i/o error')), isFullDisk('ENOSPC')]).toEqual([false, false]);
});

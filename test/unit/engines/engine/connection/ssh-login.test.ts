import { expect, it } from 'vitest';
import { aliveOptions } from '../../../../../src/engines/engine/connection/ssh-login.ts';

it('ends a connection without a sign of the other side, and a login that takes long', () => {
  expect(aliveOptions('serveraliveinterval 0\nconnecttimeout none\n')).toEqual([
    '-o',
    'ServerAliveInterval=10',
    '-o',
    'ServerAliveCountMax=3',
    '-o',
    'ConnectTimeout=10',
  ]);
});

it('leaves what the user configured', () => {
  expect(aliveOptions('serveraliveinterval 60\nconnecttimeout 90\n')).toEqual([]);
});

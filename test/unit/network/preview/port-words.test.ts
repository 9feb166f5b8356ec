import { expect, it } from 'vitest';
import { parsePort, parsePorts } from '../../../../src/network/preview/port-words.ts';

it('reads a port, and where it is on this machine', () => {
  expect(parsePort('3000')).toEqual({ port: 3000, hostPort: undefined });
  expect(parsePort('80:8080')).toEqual({ port: 80, hostPort: 8080 });
});

it.each(['', 'x', '0', '65536', '3000:', '3000:0', '3000:70000', '0.0.0.0:3000', '3000:1:2', '-1', '3000/udp'])(
  'refuses %j',
  (text) => {
    expect(() => parsePort(text)).toThrow(/not a port/);
  },
);

it('refuses a port that is named twice, and too many', () => {
  expect(() => parsePorts(['3000', '3000:1'])).toThrow(/twice/);
  expect(() => parsePorts(Array.from({ length: 17 }, (_, at) => String(3000 + at)))).toThrow(/more than 16/);
});

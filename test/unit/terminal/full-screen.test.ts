import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { expect, it } from 'vitest';
import { openFullScreen } from '../../../src/terminal/full-screen.ts';

it.each([
  [
    { columns: 0, rows: 0 },
    { columns: 80, rows: 24 },
  ],
  [{}, { columns: 80, rows: 24 }],
  [
    { columns: 5, rows: 3 },
    { columns: 5, rows: 3 },
  ],
])('a terminal of %o is drawn as one of %o', (told, size) => {
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => undefined }) as unknown as ReadStream;
  const stdout = Object.assign(new PassThrough(), told) as unknown as WriteStream;
  using screen = openFullScreen({ stdin, stdout, onKey: () => undefined, onResize: () => undefined });
  expect(screen.size()).toEqual(size);
});

import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { lastLines, maskValues, openOutputTail } from '../../../../src/session/tests/output-tail.ts';

it('keeps the last lines that are not empty, without colours and with every other control as an escape', () => {
  const text = Array.from({ length: 30 }, (_, at) => `line ${at}\n\n`).join('');
  expect(lastLines(text)).toHaveLength(20);
  expect(lastLines(`${text}\u001b[31mred\u001b[0m\u001b]0;title\u0007\r\nend`).slice(-2)).toEqual([
    'red\\x1b]0;title\\x07',
    'end',
  ]);
  expect(lastLines('x'.repeat(5000))[0]).toHaveLength(400);
});

it('reads both streams to their end and keeps little', async () => {
  const [one, two] = [new PassThrough(), new PassThrough()];
  const tail = openOutputTail([one, two]);
  for (let at = 0; at < 50; at += 1) one.write(`${'y'.repeat(9999)}\n`);
  two.end('from stderr\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(tail.lines().at(-1)).toBe('from stderr');
});

it('masks the values that the user passed', () => {
  expect(maskValues(['token s3cret-token, port 80'], ['s3cret-token', '80'])).toEqual(['token •••, port 80']);
});

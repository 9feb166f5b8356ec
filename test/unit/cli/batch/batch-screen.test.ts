import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { openBatchScreen } from '../../../../src/cli/batch/batch-screen.ts';

function screenOf(isTraced = false) {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk);
      done();
    },
  });
  const stderr = Object.assign(stream, { isTTY: true, columns: 80, rows: 24 }) as unknown as NodeJS.WriteStream;
  const screen = openBatchScreen({
    stderr,
    tell: () => undefined,
    isQuiet: false,
    isTraced,
    env: { TERM: 'xterm' },
    isOneProject: true,
  });
  return { screen, written: () => written };
}

it('draws below what the shell printed while the batch was stopped', () => {
  const before = process.listenerCount('SIGCONT');
  const { screen, written } = screenOf();
  screen.begin([]);
  expect(written()).toContain('0 of 0 tasks ended');
  process.emit('SIGCONT');
  screen.end();
  // Nothing is removed: the cursor is no longer below the lines.
  expect(written()).not.toContain('\u001b[');
  expect(process.listenerCount('SIGCONT')).toBe(before);
});

it('draws nothing between the steps of --trace', () => {
  const { screen, written } = screenOf(true);
  screen.begin([]);
  screen.end();
  expect(written()).toBe('');
});

import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { listenForSignals } from '../../../src/terminal/interruption.ts';

it('the first signal stops, while Ctrl-C is lent only to what has the terminal', () => {
  const source = new EventEmitter();
  using interruption = listenForSignals(source);
  {
    using _pager = interruption.lend();
    using _editor = interruption.lend();
    source.emit('SIGINT');
    expect(interruption.by()).toBeUndefined();
  }
  source.emit('SIGINT');
  source.emit('SIGTERM');
  expect([interruption.by(), interruption.signal.aborted]).toEqual(['SIGINT', true]);
});

it('a hangup stops also while Ctrl-C is lent, and nothing listens after the end', () => {
  const source = new EventEmitter();
  {
    using interruption = listenForSignals(source);
    using _pager = interruption.lend();
    source.emit('SIGHUP');
    expect(interruption.by()).toBe('SIGHUP');
  }
  expect(source.eventNames()).toEqual([]);
});

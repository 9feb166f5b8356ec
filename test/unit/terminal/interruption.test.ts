import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { listenForSignals } from '../../../src/terminal/interruption.ts';

it('the first signal stops the command; Ctrl-C goes to the program that has the terminal', () => {
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

it('a later stage can be stopped by a signal of its own', () => {
  const source = new EventEmitter();
  using interruption = listenForSignals(source);
  source.emit('SIGTERM');
  {
    using next = interruption.next();
    expect(next.signal.aborted).toBe(false);
    source.emit('SIGINT');
    expect(next.signal.reason).toMatchObject({ by: 'SIGINT' });
  }
  using last = interruption.next();
  expect([last.signal.aborted, interruption.by()]).toEqual([false, 'SIGTERM']);
});

it('SIGHUP stops the command even while a program has the terminal, and no listener is left afterwards', () => {
  const source = new EventEmitter();
  {
    using interruption = listenForSignals(source);
    using _pager = interruption.lend();
    source.emit('SIGHUP');
    expect(interruption.by()).toBe('SIGHUP');
  }
  expect(source.eventNames()).toEqual([]);
});

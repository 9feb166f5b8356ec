import { expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/core/types/event.ts';
import { createPrinter } from '../../../src/terminal/printer.ts';

function printer(options: { readonly isTTY: boolean; readonly quiet?: boolean }) {
  const written: string[] = [];
  const stderr = { isTTY: options.isTTY, write: (more: string) => written.push(more) };
  let nowMs = new Date(2026, 0, 2, 14, 3, 22).getTime();
  const tell = createPrinter({
    stderr,
    quiet: options.quiet === true,
    trace: false,
    json: false,
    tty: options.isTTY,
    colour: false,
    columns: 60,
    nowMs: () => nowMs,
  });
  const warn = (text: string): void => tell({ kind: 'message', level: 'warning', text });
  const later = (ms: number): void => {
    nowMs += ms;
  };
  /** What was written since it was last asked. */
  const said = (): string => written.splice(0).join('');
  return { tell, warn, later, said };
}

it('prints nothing on a terminal that the agent has, and all of it, in order and with times, when it is returned', () => {
  const { tell, warn, later, said } = printer({ isTTY: true });
  tell({ kind: 'terminal-lent' });
  warn('first');
  tell({ kind: 'finding', severity: 'blocked', text: 'second' });
  const busy: SessionEvent[] = [
    { kind: 'progress', what: 'Copying', done: 1, total: 1, unit: 'files' },
    { kind: 'status-line', text: 'Running' },
  ];
  for (const event of busy) tell(event);
  later(61_000);
  warn('third');
  expect(said()).toBe('');
  tell({ kind: 'terminal-returned' });
  expect(said()).toBe(
    '[sandbox] 14:03:22 WARNING: first\n[sandbox] 14:03:22 WARNING: second\n[sandbox] 14:04:23 WARNING: third\n',
  );
  tell({ kind: 'terminal-returned' });
  warn('after');
  expect(said()).toBe('[sandbox] WARNING: after\n');
});

it('prints at once into a file, also while another program has the terminal', () => {
  const { tell, warn, said } = printer({ isTTY: false });
  tell({ kind: 'terminal-lent' });
  warn('logged');
  expect(said()).toBe('[sandbox] WARNING: logged\n');
});

it('wraps to the window below its own mark, and into a file not at all', () => {
  const text = 'What was held back waits in session 20261122-abcd: run-claude apply 20261122-abcd';
  const screen = printer({ isTTY: true });
  screen.tell({ kind: 'message', level: 'info', text });
  expect(screen.said()).toBe(
    '[sandbox] What was held back waits in session 20261122-abcd:\n          run-claude apply 20261122-abcd\n',
  );
  const file = printer({ isTTY: false });
  file.tell({ kind: 'message', level: 'info', text });
  expect(file.said()).toBe(`[sandbox] ${text}\n`);
});

it('indents the further lines of a message: a name with a line feed begins no line of run-claude', () => {
  const file = printer({ isTTY: false });
  file.warn('cannot read x\n[sandbox] All changes were audited.');
  expect(file.said()).toBe('[sandbox] WARNING: cannot read x\n          [sandbox] All changes were audited.\n');
  const screen = printer({ isTTY: true });
  screen.tell({ kind: 'terminal-lent' });
  screen.warn('one\ntwo');
  screen.tell({ kind: 'terminal-returned' });
  expect(screen.said()).toBe('[sandbox] 14:03:22 WARNING: one\n                   two\n');
});

it('keeps one line in place, removed before any other; with --quiet and into a file there is none', () => {
  const { tell, warn, said } = printer({ isTTY: true });
  tell({ kind: 'status-line', text: 'Running for 5 s' });
  tell({ kind: 'status-line', text: 'Running for 6 s' });
  warn('between');
  tell({ kind: 'status-line', text: 'Running for 7 s' });
  tell({ kind: 'status-line' });
  tell({ kind: 'status-line' });
  expect(said()).toBe(
    [
      '\r[sandbox] Running for 5 s\x1b[K\r[sandbox] Running for 6 s\x1b[K\r\x1b[K',
      '[sandbox] WARNING: between\n\r[sandbox] Running for 7 s\x1b[K\r\x1b[K',
    ].join(''),
  );
  for (const options of [{ isTTY: true, quiet: true }, { isTTY: false }]) {
    const other = printer(options);
    other.tell({ kind: 'status-line', text: 'Running for 5 s' });
    expect(other.said()).toBe('');
  }
});

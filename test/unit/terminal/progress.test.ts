import { describe, expect, it } from 'vitest';
import { createPrinter, type PrinterOptions } from '../../../src/terminal/printer.ts';
import type { SessionEvent } from '../../../src/types/event.ts';

/** What is on the screen, or in the log, while something goes on for 20 seconds, 100 steps of it. */
function printed(
  options: Partial<PrinterOptions>,
  event: Partial<Extract<SessionEvent, { kind: 'progress' }>> = {},
): string {
  const written: string[] = [];
  let nowMs = 0;
  const stderr = { write: (more: string) => written.push(more) };
  const common = { stderr, quiet: false, trace: false, json: false, tty: true, columns: 80, nowMs: () => nowMs };
  const tell = createPrinter({ ...common, ...options });
  const what = 'Copying the project';
  for (let step = 0; step <= 100; step++) {
    nowMs = step * 200;
    tell({ kind: 'progress', what, done: step * 50, total: 5_000, unit: 'files', ...event });
    if (step === 60) tell({ kind: 'message', level: 'warning', text: 'something' });
  }
  tell({ kind: 'progress-end', what });
  return written.join('');
}

describe('progress', () => {
  it('is a bar with total and rate on a terminal, removed at its end and before each message', () => {
    const text = printed({});
    expect(text).toContain('[sandbox] Copying the project: 2500 of 5000 files (50%), 250/s [#');
    for (const bar of text.split(/\r|\n/)) expect(bar.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').length).toBeLessThan(80);
    expect(text).toMatch(/\r\x1b\[K\[sandbox\] \S*WARNING: something/);
    expect(text.endsWith('\r\x1b[K')).toBe(true);
    expect(text.match(/\n/g)).toHaveLength(1);
  });

  it('fits a narrow terminal', () => {
    for (const bar of printed({ columns: 40 }).split(/\r|\n/)) {
      expect(bar.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').length).toBeLessThan(40);
    }
  });

  it('is a plain line every few seconds where there is no terminal', () => {
    const lines = printed({ tty: false }).trimEnd().split('\n');
    expect(lines).toEqual([
      '[sandbox] Copying the project: 1250 of 5000 files (25%), 250/s',
      '[sandbox] Copying the project: 2500 of 5000 files (50%), 250/s',
      '[sandbox] WARNING: something',
      '[sandbox] Copying the project: 3750 of 5000 files (75%), 250/s',
      '[sandbox] Copying the project: 5000 of 5000 files (100%), 250/s',
    ]);
  });

  it('prints bytes in units, steps without a rate, and no total that is not known', () => {
    const bytes = printed({ tty: false }, { done: 3_000_000_000, total: 4_000_000_000, unit: 'bytes' });
    expect(bytes).toContain('3.0 GB of 4.0 GB (75%), ');
    expect(printed({ tty: false }, { unit: 'steps', total: 100, done: 7 })).toContain('project: 7 of 100 (7%)\n');
  });

  it('is plain ASCII as JSON, whatever an event names', () => {
    const lines = printed({ json: true }, { what: 'a\u009b6n\u202e' }).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^[ -~]+$/);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ kind: 'progress', what: 'a\u009b6n\u202e' });
  });

  it('is omitted with --quiet, and warnings are printed', () => {
    expect(printed({ quiet: true, colour: false })).toBe('[sandbox] WARNING: something\n');
    expect(printed({ quiet: true, tty: false })).toBe('[sandbox] WARNING: something\n');
  });

  it('shows no control character of a name', () => {
    expect(printed({ tty: false }, { what: 'a\u001b[2Jb' })).not.toContain('\u001b');
  });
});

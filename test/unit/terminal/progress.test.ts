import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionEvent } from '../../../src/core/types/event.ts';
import { widthOf } from '../../../src/terminal/columns/width.ts';
import { createPrinter, type PrinterOptions } from '../../../src/terminal/printer.ts';

type ProgressEvent = Extract<SessionEvent, { kind: 'progress' }>;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open(options: Partial<PrinterOptions> = {}) {
  const written: string[] = [];
  const stderr = { write: (more: string) => written.push(more) };
  const common = { stderr, quiet: false, trace: false, json: false, tty: true, columns: 80 };
  const tell = createPrinter({ ...common, ...options });
  return { tell, text: () => written.join(''), take: () => written.splice(0).join('') };
}

/** What is on the screen, or in the log, while something goes on for 20 seconds, 100 steps of it. */
function printed(options: Partial<PrinterOptions>, event: Partial<ProgressEvent> = {}): string {
  const { tell, text } = open(options);
  const what = 'Copying the project';
  for (let step = 0; step <= 100; step++) {
    tell({ kind: 'progress', what, done: step * 50, total: 5_000, unit: 'files', ...event });
    if (step === 60) tell({ kind: 'message', level: 'warning', text: 'something' });
    vi.advanceTimersByTime(200);
  }
  tell({ kind: 'progress-end', what });
  return text();
}

/** The lines that a terminal showed one after the other in the last row. */
function rows(text: string): string[] {
  return text
    .split(/[\r\n]/)
    .map((row) => row.replace(/\x1b\[[0-9;]*[A-Za-z]/g, ''))
    .filter(Boolean);
}

describe('progress on a terminal', () => {
  it('is a bar with total, rate and elapsed time, removed at its end and before each message', () => {
    const text = printed({});
    expect(text).toContain('[sandbox] Copying the project: 2550 of 5000 files (51%), 250/s, 10 s [#');
    for (const row of rows(text)) expect(widthOf(row)).toBeLessThan(80);
    expect(text).toMatch(/\r\x1b\[K\[sandbox\] \S*WARNING: something/);
    expect(text.endsWith('\r\x1b[K')).toBe(true);
    expect(text.match(/\n/g)).toHaveLength(1);
  });

  it('shows the elapsed time of a silent step each second, from two seconds on', () => {
    const { tell, text, take } = open();
    tell({ kind: 'progress', what: 'Building the image', done: 3, total: 23, unit: 'steps', detail: 'RUN make' });
    vi.advanceTimersByTime(1000);
    expect(rows(take()).at(-1)).toBe('[sandbox] Building the image: step 4 of 23: RUN make');
    vi.advanceTimersByTime(1000);
    expect(rows(take()).at(-1)).toBe('[sandbox] Building the image: step 4 of 23, 2 s: RUN make');
    vi.advanceTimersByTime(63_000);
    expect(rows(take()).at(-1)).toBe('[sandbox] Building the image: step 4 of 23, 1 min 5 s: RUN make');
    tell({ kind: 'progress-end', what: 'Building the image' });
    take();
    vi.advanceTimersByTime(10_000);
    expect(text()).toBe('');
  });

  it.each([10, 24, 40, 80])('takes one row of %i columns, whatever a program prints', (columns) => {
    const { tell, text } = open({ columns });
    const details = [
      '漢字'.repeat(60),
      'x'.repeat(500),
      '👩‍👩‍👧‍👦'.repeat(50),
      'e\u0301'.repeat(100),
      'a\u001b[2J\u009b5n\u202eb',
    ];
    for (const detail of details) {
      tell({ kind: 'progress', what: 'Building', done: 0, total: 2, unit: 'steps', detail });
      vi.advanceTimersByTime(3000);
    }
    expect(rows(text()).length).toBeGreaterThan(details.length);
    for (const row of rows(text())) expect(widthOf(row)).toBeLessThanOrEqual(Math.max(10, columns - 1));
    expect(text().replaceAll('\x1b[K', '')).not.toMatch(/[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/);
  });

  it('draws nothing while another program has the terminal, and goes on afterwards', () => {
    const { tell, take } = open();
    tell({ kind: 'progress', what: 'Waiting' });
    tell({ kind: 'terminal-lent' });
    take();
    tell({ kind: 'progress', what: 'Waiting', detail: 'more' });
    vi.advanceTimersByTime(5000);
    expect(take()).toBe('');
    tell({ kind: 'terminal-returned' });
    vi.advanceTimersByTime(1000);
    expect(rows(take())).toEqual(['[sandbox] Waiting, 6 s: more']);
  });

  it('shows what began last, and then again what has not ended', () => {
    const { tell, take } = open();
    tell({ kind: 'progress', what: 'Outer' });
    tell({ kind: 'progress', what: 'Inner' });
    vi.advanceTimersByTime(1000);
    expect(rows(take()).at(-1)).toBe('[sandbox] Inner');
    tell({ kind: 'progress-end', what: 'Inner' });
    vi.advanceTimersByTime(1000);
    expect(rows(take()).at(-1)).toBe('[sandbox] Outer, 2 s');
  });

  it('cuts the file of a status line at its beginning', () => {
    const { tell, take } = open({ columns: 50 });
    tell({ kind: 'status-line', text: 'Running for 5 s', file: 'src/parser/expressions/binary.ts' });
    expect(rows(take())).toEqual(['[sandbox] Running for 5 s: …expressions/binary.ts']);
  });
});

describe('progress without a terminal', () => {
  it('is a line after two seconds, and then one each half minute', () => {
    const { tell, text } = open({ tty: false });
    for (let second = 0; second <= 70; second++) {
      tell({ kind: 'progress', what: 'Copying the project', done: second * 50, total: 5_000, unit: 'files' });
      vi.advanceTimersByTime(1000);
    }
    expect(text().trimEnd().split('\n')).toEqual([
      '[sandbox] Copying the project: 50 of 5000 files (1%), 50/s, 2 s',
      '[sandbox] Copying the project: 1550 of 5000 files (31%), 50/s, 32 s',
      '[sandbox] Copying the project: 3050 of 5000 files (61%), 50/s, 1 min 2 s',
    ]);
  });

  it('is one line for each step that takes a while, and no line twice', () => {
    const { tell, text } = open({ tty: false });
    const takes = [100, 100, 5000, 100, 70_000, 3000];
    for (const [done, ms] of takes.entries()) {
      for (let piece = 0; piece < 10; piece++) {
        const detail = `output ${piece}`;
        tell({ kind: 'progress', what: 'Building the image', done, total: takes.length, unit: 'steps', detail });
        vi.advanceTimersByTime(ms / 10);
      }
    }
    tell({ kind: 'progress-end', what: 'Building the image' });
    const lines = text().trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/, .*/, ''))).toEqual([
      '[sandbox] Building the image: step 3 of 6',
      '[sandbox] Building the image: step 5 of 6',
      '[sandbox] Building the image: step 5 of 6',
      '[sandbox] Building the image: step 5 of 6',
      '[sandbox] Building the image: step 6 of 6',
    ]);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('has no line for what is quick', () => {
    const { tell, text } = open({ tty: false });
    for (let done = 0; done < 23; done++)
      tell({ kind: 'progress', what: 'Building the image', done, total: 23, unit: 'steps' });
    tell({ kind: 'progress-end', what: 'Building the image' });
    vi.advanceTimersByTime(60_000);
    expect(text()).toBe('');
  });

  it('prints bytes in units, and no total that is not known', () => {
    const bytes = printed({ tty: false }, { done: 3_000_000_000, total: 4_000_000_000, unit: 'bytes' });
    expect(bytes).toContain('3.0 GB of 4.0 GB (75%), ');
    const { tell, text } = open({ tty: false });
    tell({ kind: 'progress', what: 'Running the setup' });
    vi.advanceTimersByTime(2000);
    expect(text()).toBe('[sandbox] Running the setup, 2 s\n');
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

  it('shows no control character of a name or of a program', () => {
    const text = printed({ tty: false }, { what: 'a\u001b[2Jb', detail: 'c\u001b[2Jd\ne' });
    expect(text).toContain('a\\x1b[2Jb');
    expect(text).toContain('c\\x1b[2Jd\\ne');
    expect(text).not.toContain('\u001b');
  });
});

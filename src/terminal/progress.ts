import type { SessionEvent } from '../types/event.ts';

type ProgressEvent = Extract<SessionEvent, { kind: 'progress' }>;

export interface ProgressOptions {
  readonly write: (text: string) => unknown;
  readonly tty: boolean;
  readonly columns: number;
  readonly nowMs: () => number;
}

export interface Progress {
  show(event: ProgressEvent): void;
  end(what: string): void;
  /** Shows one line in place of the last one, on a terminal only; undefined removes it. */
  status(text: string | undefined): void;
  /** Removes the bar or the line from the screen, so that a line can be printed; the next call draws it again. */
  clear(): void;
}

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;

/** Bars with totals and rates on a terminal, plain lines every few seconds elsewhere. `what` is cleaned already. */
export function createProgress(options: ProgressOptions): Progress {
  const started = new Map<string, number>();
  let lastMs = Number.NEGATIVE_INFINITY;
  let drawn = false;
  let last: ProgressEvent | undefined;
  const clear = (): void => {
    if (drawn) options.write('\r\x1b[K');
    drawn = false;
  };
  return {
    clear,
    status(text) {
      if (!options.tty) return;
      if (text === undefined) clear();
      else {
        options.write(`\r${`[sandbox] ${text}`.slice(0, Math.max(10, options.columns - 1))}\x1b[K`);
        drawn = true;
      }
    },
    show(event) {
      const now = options.nowMs();
      const since = started.get(event.what) ?? now;
      started.set(event.what, since);
      last = event;
      // The first plain line comes after the interval too: a quick step needs none.
      if (!options.tty && lastMs === Number.NEGATIVE_INFINITY) lastMs = now;
      const finished = event.total !== undefined && event.done >= event.total;
      if (now - lastMs < (options.tty ? BAR_EVERY_MS : LINE_EVERY_MS) && !(finished && options.tty)) return;
      lastMs = now;
      if (!options.tty) {
        options.write(`[sandbox] ${progressText(event, now - since)}\n`);
        return;
      }
      options.write(`\r${barText(event, now - since, options.columns)}\x1b[K`);
      drawn = true;
    },
    end(what) {
      started.delete(what);
      if (last?.what !== what) return;
      clear();
      lastMs = Number.NEGATIVE_INFINITY;
      last = undefined;
    },
  };
}

function progressText(event: ProgressEvent, elapsedMs: number): string {
  // '2500 of 5000 files', and '3.0 MB of 1.2 GB'.
  const done = event.total === undefined || event.unit === 'bytes' ? amount(event.done, event.unit) : event.done;
  const total = event.total === undefined ? '' : ` of ${amount(event.total, event.unit)}`;
  const share = event.total ? ` (${Math.floor((100 * event.done) / event.total)}%)` : '';
  const perSecond = elapsedMs > 500 && event.unit !== 'steps' ? (event.done * 1000) / elapsedMs : 0;
  const rate =
    perSecond >= 1
      ? `, ${event.unit === 'bytes' ? amount(Math.round(perSecond), 'bytes') : Math.round(perSecond)}/s`
      : '';
  return `${event.what}: ${done}${total}${share}${rate}`;
}

function barText(event: ProgressEvent, elapsedMs: number, columns: number): string {
  const text = `[sandbox] ${progressText(event, elapsedMs)}`;
  const room = columns - text.length - 4;
  if (!event.total || room < 8) return text.slice(0, Math.max(10, columns - 1));
  const width = Math.min(room, 30);
  const filled = Math.max(0, Math.min(width, Math.round((width * event.done) / event.total)));
  return `${text} [${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`;
}

/** '1.2 MB', '3 files', '4'. */
export function amount(value: number, unit: ProgressEvent['unit']): string {
  if (unit === 'steps') return String(value);
  if (unit === 'files') return `${value} ${value === 1 ? 'file' : 'files'}`;
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = value;
  let step = 0;
  while (size >= 1000 && step < units.length - 1) {
    size /= 1000;
    step += 1;
  }
  return `${step === 0 ? size : size.toFixed(1)} ${units[step]}`;
}

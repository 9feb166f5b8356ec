import { durationText } from '../core/text/when.ts';
import type { SessionEvent } from '../core/types/event.ts';
import { cutEnd, cutStart, widthOf } from './columns/width.ts';
import { PREFIX } from './screen.ts';

type ProgressEvent = Extract<SessionEvent, { kind: 'progress' }>;

export interface ProgressOptions {
  readonly write: (text: string) => unknown;
  readonly tty: boolean;
  /** Of the window, as it is now. */
  readonly columns: number;
  readonly nowMs: () => number;
}

export interface Progress {
  /** All of its texts must be cleaned. */
  show(event: ProgressEvent): void;
  end(what: string): void;
  /** Shows one line in place of the last one, on a terminal only; undefined removes it. */
  status(text: string | undefined, file?: string): void;
  /** Removes the bar or the line from the screen, so that a line can be printed; the next call draws it again. */
  clear(): void;
  /** While true nothing is drawn: the terminal belongs to another program. */
  setPaused(isPaused: boolean): void;
}

const BAR_EVERY_MS = 100;
const TICK_MS = 1000;
/** From here on the elapsed time is shown. A shorter step needs no line in a log. */
const ELAPSED_FROM_MS = 2000;
const LOG_LINE_EVERY_MS = 30_000;
const MAX_BAR_COLUMNS = 30;
/** In a log, where no window limits a line. */
const MAX_DETAIL_COLUMNS = 120;

/** Work that has not ended, as it was last reported. */
interface Ongoing {
  readonly event: ProgressEvent;
  readonly startedMs: number;
  /** When it was last reported: a rate counts until then. */
  readonly reportedMs: number;
  /** What a log has one line for: the step. */
  readonly step: string;
  readonly stepMs: number;
}

/**
 * Shows what runs and for how long: on a terminal one line, redrawn in place each second; elsewhere a line for each step,
 * and then one every half minute.
 */
export function createProgress(options: ProgressOptions): Progress {
  const ongoing = new Map<string, Ongoing>();
  const logged = new Map<string, { readonly step: string; readonly atMs: number }>();
  let drawnMs = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  let isPaused = false;
  let timer: NodeJS.Timeout | undefined;

  const room = (): number => Math.max(10, options.columns - 1);
  const clear = (): void => {
    if (isDrawn) options.write('\r\x1b[K');
    isDrawn = false;
  };
  const draw = (): void => {
    // The last in the map is what was begun last: the others contain it, or run next to it.
    const one = [...ongoing.values()].at(-1);
    if (one === undefined || isPaused) return;
    drawnMs = options.nowMs();
    options.write(`\r${lineOf(one, drawnMs, room())}\x1b[K`);
    isDrawn = true;
  };
  const log = (what: string, one: Ongoing): void => {
    const now = options.nowMs();
    const last = logged.get(what);
    const isDue = last?.step === one.step ? now - last.atMs >= LOG_LINE_EVERY_MS : now - one.stepMs >= ELAPSED_FROM_MS;
    if (!isDue || isPaused) return;
    logged.set(what, { step: one.step, atMs: now });
    options.write(`${lineOf(one, now, Number.POSITIVE_INFINITY)}\n`);
  };
  const tick = (): void => {
    if (options.tty) draw();
    else for (const [what, one] of ongoing) log(what, one);
  };
  return {
    clear,
    setPaused(paused) {
      if (paused) clear();
      isPaused = paused;
    },
    status(text, file = '') {
      if (!options.tty) return;
      if (text === undefined) clear();
      else {
        options.write(`\r${statusLine(`${PREFIX}${text}`, file, room())}\x1b[K`);
        isDrawn = true;
      }
    },
    show(event) {
      const { what } = event;
      const now = options.nowMs();
      const before = ongoing.get(what);
      const step = stepText(event);
      const one: Ongoing = {
        event,
        startedMs: before?.startedMs ?? now,
        reportedMs: now,
        step,
        stepMs: before?.step === step ? before.stepMs : now,
      };
      ongoing.set(what, one);
      timer ??= setInterval(tick, TICK_MS).unref();
      if (!options.tty) log(what, one);
      else if (now - drawnMs >= BAR_EVERY_MS || isComplete(event)) draw();
    },
    end(what) {
      if (!ongoing.delete(what)) return;
      logged.delete(what);
      clear();
      drawnMs = Number.NEGATIVE_INFINITY;
      if (ongoing.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

function isComplete({ done, total }: ProgressEvent): boolean {
  return done !== undefined && total !== undefined && done >= total;
}

/** 'step 4 of 23', and nothing for what is not counted in steps. */
function stepText({ done, total, unit }: ProgressEvent): string {
  if (unit !== 'steps' || done === undefined) return '';
  return total === undefined ? `step ${done + 1}` : `step ${Math.min(done + 1, total)} of ${total}`;
}

/** 'Copying the project: 2500 of 5000 files (50%), 250/s, 10 s', 'Building the image: step 4 of 23, 12 s: apt-get update' */
function lineOf({ event, startedMs, reportedMs, step }: Ongoing, nowMs: number, room: number): string {
  const elapsedMs = nowMs - startedMs;
  const counted = step === '' ? countText(event, reportedMs - startedMs) : step;
  const time = elapsedMs >= ELAPSED_FROM_MS ? `, ${durationText(elapsedMs)}` : '';
  const head = `${PREFIX}${event.what}${counted === '' ? '' : `: ${counted}`}${time}`;
  const { detail } = event;
  if (detail === undefined || detail === '')
    return room === Number.POSITIVE_INFINITY ? head : withBar(head, event, room);
  return cutEnd(`${head}: ${cutEnd(detail, MAX_DETAIL_COLUMNS)}`, room);
}

/** '2500 of 5000 files (50%), 250/s', '3.0 MB of 1.2 GB (0%), 1.1 MB/s', '1 of 3 services (33%)'. */
function countText({ done, total, unit }: ProgressEvent, elapsedMs: number): string {
  if (done === undefined || unit === undefined) return '';
  const whole = total === undefined || unit === 'bytes' ? amount(done, unit) : String(done);
  const ofTotal = total === undefined ? '' : ` of ${amount(total, unit)}`;
  const share = total ? ` (${Math.floor((100 * done) / total)}%)` : '';
  const perSecond = elapsedMs > 500 && unit !== 'services' ? Math.round((done * 1000) / elapsedMs) : 0;
  const rate = perSecond >= 1 ? `, ${unit === 'bytes' ? amount(perSecond, 'bytes') : perSecond}/s` : '';
  return `${whole}${ofTotal}${share}${rate}`;
}

function withBar(head: string, { done = 0, total }: ProgressEvent, room: number): string {
  const free = room - widthOf(head) - 3;
  if (!total || free < 4) return cutEnd(head, room);
  const columns = Math.min(free, MAX_BAR_COLUMNS);
  const filled = Math.max(0, Math.min(columns, Math.round((columns * done) / total)));
  return `${head} [${'#'.repeat(filled)}${'-'.repeat(columns - filled)}]`;
}

/** Of a path the end says more: it is what is cut, at its beginning, as long as some of it is left. */
function statusLine(text: string, file: string, room: number): string {
  const free = room - widthOf(text) - 2;
  return file === '' || free < 8 ? cutEnd(text, room) : `${text}: ${cutStart(file, free)}`;
}

/** '1.2 MB', '3 files', '4'. */
export function amount(value: number, unit: NonNullable<ProgressEvent['unit']>): string {
  if (unit === 'steps') return String(value);
  if (unit !== 'bytes') return `${value} ${value === 1 ? unit.slice(0, -1) : unit}`;
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = value;
  let step = 0;
  while (size >= 1000 && step < units.length - 1) {
    size /= 1000;
    step += 1;
  }
  return `${step === 0 ? size : size.toFixed(1)} ${units[step]}`;
}

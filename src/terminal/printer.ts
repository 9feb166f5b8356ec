import { jsonLine } from '../core/report/json.ts';
import { clockText } from '../core/text/when.ts';
import type { SessionEvent, Tell } from '../core/types/event.ts';
import { cleanLine } from './clean.ts';
import { MessageLines, type PrintedEvent } from './columns/message-lines.ts';
import { createProgress } from './progress.ts';

export interface PrinterOptions {
  /** Where all messages go; stdout is the agent's. */
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly quiet: boolean;
  readonly trace: boolean;
  /** One JSON object a line instead of text. */
  readonly json: boolean;
  /** stderr is a terminal that moves its cursor (not TERM=dumb). */
  readonly tty: boolean;
  /** Of the window, as it is now: lines are wrapped to it on a terminal. */
  readonly columns: number;
  /** Default: as tty. */
  readonly colour?: boolean;
  readonly nowMs?: () => number;
}

/** More than a session prints in days. Later messages are only counted. */
const MAX_HELD_MESSAGES = 2000;

/**
 * The only printer of messages: returns the Tell that every stage gets. Everything that it prints is cleaned. While the
 * agent has the terminal that the messages would go to, they are held; they are printed in order, with their times,
 * when the terminal is returned. Never throws.
 */
export function createPrinter(options: PrinterOptions): Tell {
  const nowMs = options.nowMs ?? Date.now;
  const progress = createProgress({
    write: (text) => options.stderr.write(text),
    tty: options.tty && !options.json,
    get columns() {
      return options.columns;
    },
    nowMs,
  });
  const lines = new MessageLines({
    colour: options.colour ?? options.tty,
    columns: () => (options.tty ? options.columns : undefined),
    write(line) {
      progress.clear();
      options.stderr.write(line);
    },
  });
  let held: { readonly event: PrintedEvent; readonly atMs: number }[] | undefined;
  let droppedCount = 0;

  const release = (): void => {
    const all = held ?? [];
    held = undefined;
    for (const { event, atMs } of all) lines.writeEvent(event, `${clockText(new Date(atMs))} `);
    if (droppedCount > 0) lines.writeLine(`${droppedCount} more messages were dropped`);
    droppedCount = 0;
  };

  return (event) => {
    if (!wanted(event, options)) return;
    if (options.json) {
      options.stderr.write(jsonLine(event));
      return;
    }
    switch (event.kind) {
      case 'terminal-lent':
        progress.clear();
        if (!(options.stderr.isTTY ?? options.tty)) break;
        held ??= [];
        progress.setPaused(true);
        break;
      case 'terminal-returned':
        progress.setPaused(false);
        release();
        break;
      case 'progress':
        progress.show(cleanProgress(event));
        break;
      case 'stage':
        break;
      case 'progress-end':
        progress.end(cleanLine(event.what));
        break;
      case 'status-line':
        if (held !== undefined) break;
        progress.status(event.text === undefined ? undefined : cleanLine(event.text), cleanLine(event.file ?? ''));
        break;
      default:
        if (held === undefined) lines.writeEvent(event);
        else if (held.length < MAX_HELD_MESSAGES) held.push({ event, atMs: nowMs() });
        else droppedCount += 1;
    }
  };
}

function cleanProgress(event: Extract<SessionEvent, { kind: 'progress' }>): typeof event {
  const { what, detail } = event;
  return { ...event, what: cleanLine(what), ...(detail === undefined ? {} : { detail: cleanLine(detail) }) };
}

/** --quiet leaves warnings, errors and findings that are more than notes; --trace adds traces. */
function wanted(event: SessionEvent, options: PrinterOptions): boolean {
  if (event.kind === 'terminal-lent' || event.kind === 'terminal-returned') return !options.json;
  if (event.kind === 'status-line') return !options.json && !options.quiet;
  if (event.kind === 'trace') return options.trace;
  if (!options.quiet) return true;
  if (event.kind === 'message') return event.level !== 'info';
  return event.kind === 'finding' && event.severity !== 'note';
}

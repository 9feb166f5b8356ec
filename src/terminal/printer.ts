import { createColors } from 'picocolors';
import { jsonLine } from '../report/json.ts';
import type { SessionEvent, Tell } from '../types/event.ts';
import { cleanLine, cleanText } from './clean.ts';
import { createProgress } from './progress.ts';

export interface PrinterOptions {
  /** Where all messages go; stdout is the agent's. */
  readonly stderr: { write(text: string): unknown };
  readonly quiet: boolean;
  readonly trace: boolean;
  /** One JSON object a line instead of text. */
  readonly json: boolean;
  /** stderr is a terminal that moves its cursor (not TERM=dumb). */
  readonly tty: boolean;
  readonly columns: number;
  /** Default: as tty. */
  readonly colour?: boolean;
  readonly nowMs?: () => number;
}

/** The only printer of messages: gives the Tell that every stage is handed. What it prints is cleaned. Never throws. */
export function createPrinter(options: PrinterOptions): Tell {
  const colours = createColors(options.colour ?? options.tty);
  const progress = createProgress({
    write: (text) => options.stderr.write(text),
    tty: options.tty && !options.json,
    columns: options.columns,
    nowMs: options.nowMs ?? Date.now,
  });
  const line = (text: string): void => {
    progress.clear();
    options.stderr.write(`[sandbox] ${text}\n`);
  };
  const lines = (text: string, paint: (line: string) => string): void => {
    for (const one of cleanText(text).replace(/\n$/, '').split('\n')) line(paint(one));
  };
  return (event) => {
    if (!wanted(event, options)) return;
    if (options.json) {
      options.stderr.write(jsonLine(event));
      return;
    }
    switch (event.kind) {
      case 'message':
        lines(event.level === 'info' ? event.text : `${LEVELS[event.level]}${event.text}`, (text) =>
          event.level === 'error' ? colours.red(text) : event.level === 'warning' ? colours.yellow(text) : text,
        );
        break;
      case 'finding':
        lines(event.severity === 'note' ? event.text : `WARNING: ${event.text}`, (text) =>
          event.severity === 'blocked' ? colours.red(text) : event.severity === 'suspect' ? colours.yellow(text) : text,
        );
        break;
      case 'trace':
        lines(event.text, (text) => colours.dim(text));
        break;
      case 'progress':
        progress.show({ ...event, what: cleanLine(event.what) });
        break;
      case 'progress-end':
        progress.end(cleanLine(event.what));
        break;
    }
  };
}

const LEVELS = { warning: 'WARNING: ', error: 'ERROR: ' } as const;

/** --quiet leaves warnings, errors and findings that are more than notes; --trace adds traces. */
function wanted(event: SessionEvent, options: PrinterOptions): boolean {
  if (event.kind === 'trace') return options.trace;
  if (!options.quiet) return true;
  if (event.kind === 'message') return event.level !== 'info';
  return event.kind === 'finding' && event.severity !== 'note';
}

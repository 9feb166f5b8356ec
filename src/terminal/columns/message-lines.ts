import { createColors } from 'picocolors';
import type { SessionEvent } from '../../core/types/event.ts';
import { cleanText } from '../clean.ts';
import { PREFIX } from '../screen.ts';
import { wrapWords } from './wrap-words.ts';

/** The events that are printed as lines. */
export type PrintedEvent = Extract<SessionEvent, { kind: 'message' | 'finding' | 'trace' }>;

export interface LinesOptions {
  readonly colour: boolean;
  /** Of the window, as it is now; undefined: lines are not wrapped. */
  readonly columns: () => number | undefined;
  /** Writes one line with its end. */
  readonly write: (line: string) => void;
}

const INDENT = ' '.repeat(PREFIX.length);
const LEVELS = { info: '', warning: 'WARNING', error: 'ERROR' } as const;

/** Writes events as lines of run-claude: cleaned, with its prefix, wrapped and coloured. */
export class MessageLines {
  readonly #options: LinesOptions;
  readonly #colours: ReturnType<typeof createColors>;

  constructor(options: LinesOptions) {
    this.#options = options;
    this.#colours = createColors(options.colour);
  }

  /** `time` is printed before the event. Its further lines are indented: a text of others cannot begin a line of run-claude. */
  writeEvent(event: PrintedEvent, time = ''): void {
    const paint = this.#paintOf(event);
    const [first = '', ...further] = cleanText(printedText(event)).replace(/\n$/, '').split('\n');
    this.writeLine(`${time}${first}`, paint);
    for (const line of further) this.#write(`${' '.repeat(time.length)}${line}`, INDENT, paint);
  }

  writeLine(text: string, paint?: (line: string) => string): void {
    this.#write(text, PREFIX, paint);
  }

  #write(text: string, prefix: string, paint: (line: string) => string = (line) => line): void {
    const columns = this.#options.columns();
    const width = columns === undefined ? Number.POSITIVE_INFINITY : columns - PREFIX.length;
    for (const [at, piece] of wrapWords(text, width).entries())
      this.#options.write(`${at === 0 ? prefix : INDENT}${paint(piece)}\n`);
  }

  #paintOf(event: PrintedEvent): ((line: string) => string) | undefined {
    if (event.kind === 'trace') return this.#colours.dim;
    const grade = event.kind === 'message' ? event.level : event.severity;
    if (grade === 'error' || grade === 'blocked') return this.#colours.red;
    return grade === 'warning' || grade === 'suspect' ? this.#colours.yellow : undefined;
  }
}

function printedText(event: PrintedEvent): string {
  if (event.kind === 'message') {
    const head = [LEVELS[event.level], event.code].filter(Boolean).join(' ');
    return head === '' ? event.text : `${head}: ${event.text}`;
  }
  if (event.kind === 'trace' || event.severity === 'note') return event.text;
  return `WARNING: ${event.text}`;
}

import { cleanLine } from '../../terminal/clean.ts';
import { MASKED } from '../plan/mask-plan.ts';

const MAX_TAIL_CHARACTERS = 65_536;
const MAX_LINES = 20;
const MAX_LINE_CHARACTERS = 400;
/** Colours are left out; everything else that acts on a terminal is shown as an escape. */
const COLOUR = /\u001b\[[\d;]*[mK]/g;

/** The end of what streams give, in the order in which it comes. */
export interface OutputTail {
  /** The last lines that are not empty. Cleaned. */
  lines(): readonly string[];
}

/** Reads the streams to their end, and keeps no more than the last lines need. */
export function openOutputTail(streams: readonly NodeJS.ReadableStream[]): OutputTail {
  let tail = '';
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-MAX_TAIL_CHARACTERS);
    });
    // A stream of a container that was removed ends with an error.
    stream.on('error', () => undefined);
  }
  return { lines: () => lastLines(tail) };
}

/** The last lines of a text that are not empty, without colours, each cut. Cleaned. */
export function lastLines(text: string): readonly string[] {
  return text
    .replace(COLOUR, '')
    .split(/\r?\n|\r/)
    .filter((line) => line.trim() !== '')
    .slice(-MAX_LINES)
    .map((line) => cleanLine(line.replaceAll('\t', '  ').trimEnd().slice(0, MAX_LINE_CHARACTERS)));
}

/** Lines without the values that the user passed to the session. */
export function maskValues(lines: readonly string[], values: readonly string[]): readonly string[] {
  const long = values.filter((value) => value.length >= 6);
  return lines.map((line) => long.reduce((text, value) => text.replaceAll(value, MASKED), line));
}

import { widthOf } from './width.ts';

/** Columns of a line on stdout: Infinity where that is not a terminal, so that nothing is wrapped. */
export function outputColumns(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
}

const COLOUR = /\x1b\[[\d;]*m/g;
/** A narrower window is not wrapped for. */
const MIN_COLUMNS = 20;
/** Words of one of run-claude's own commands stay together, up to the end of its clause. */
const COMMAND = /run-claude(?: [^\s,;:.)']+){1,4}/g;

/**
 * Cleaned text, perhaps with colours, in lines of at most `columns` columns; Infinity wraps nothing. Breaks at blanks
 * only, so that a path, an id and an option stay whole (one that is longer than a line has its own line), and not
 * within a run-claude command. Lines after the first begin below the text's own beginning, or below the value of a
 * `name   value` line.
 */
export function wrapWords(text: string, columns: number): string[] {
  if (columnsOf(text) <= columns || columns < MIN_COLUMNS) return [text];
  const [head = ''] = /^(?:\x1b\[[\d;]*m)* *(?:\S+(?: \S+)? {2,})?/.exec(text) ?? [];
  const hang = columnsOf(head) < columns / 2 ? columnsOf(head) : 0;
  const first = text.slice(0, hang === 0 ? 0 : head.length);
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text.slice(first.length), columns - hang)) {
    if (line !== '' && columnsOf(line) + columnsOf(word.trimEnd()) > columns - hang) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
  }
  return [...lines, line].map((one, at) => `${at === 0 ? first : ' '.repeat(hang)}${one}`);
}

function columnsOf(text: string): number {
  return widthOf(text.replace(COLOUR, ''));
}

/** Pieces that are not broken, each with the blanks behind it. */
function wordsOf(text: string, room: number): string[] {
  const words: string[] = [];
  let at = 0;
  const plain = (until: number): void => {
    for (const word of text.slice(at, until).match(/\S+ *| +/g) ?? []) words.push(word);
  };
  for (const match of text.matchAll(COMMAND)) {
    const rest = /^\S* */.exec(text.slice(match.index + match[0].length)) ?? [''];
    const end = match.index + match[0].length + rest[0].length;
    if (match.index < at || columnsOf(text.slice(match.index, end).trimEnd()) > room) continue;
    // A quote or a bracket before a command stays with it.
    const start = text.lastIndexOf(' ', match.index) + 1;
    plain(Math.max(at, start));
    words.push(text.slice(Math.max(at, start), end));
    at = end;
  }
  plain(text.length);
  return words;
}

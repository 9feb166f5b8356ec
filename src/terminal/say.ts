import { wrapWords } from './columns/wrap-words.ts';
import { PREFIX, type Screen } from './screen.ts';

/**
 * Prints run-claude's lines with its prefix, wrapped to the window. `lines` must be cleaned. Of a text with several lines
 * only the first has the prefix.
 */
export function say(screen: Screen, lines: readonly string[]): void {
  const columns = screen.dumb ? Number.POSITIVE_INFINITY : (screen.stderr.columns ?? 80) - PREFIX.length;
  for (const text of lines) {
    const pieces = text.split('\n').flatMap((line) => wrapWords(line, columns));
    for (const [at, piece] of pieces.entries())
      screen.stderr.write(`${at === 0 ? PREFIX : ' '.repeat(PREFIX.length)}${piece}\n`);
  }
}

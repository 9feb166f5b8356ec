/** A line of a text, trimmed, with its number from 1. */
export interface Line {
  readonly line: number;
  readonly text: string;
}

/** Lines of `after` that `before` does not have, counting repetitions; empty lines left out. */
export function newLines(before: string | undefined, after: string | undefined): Line[] {
  const old = linesOf(before);
  const now = linesOf(after);
  // What both begin and end with needs no counting.
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const had = new Map<string, number>();
  for (const line of old.slice(head, old.length - tail)) had.set(line, (had.get(line) ?? 0) + 1);
  const out: Line[] = [];
  for (let at = head; at < now.length - tail; at += 1) {
    const line = now[at] ?? '';
    const left = had.get(line) ?? 0;
    if (left > 0) had.set(line, left - 1);
    else if (line !== '') out.push({ line: at + 1, text: line });
  }
  return out;
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined) return [];
  return splitLines(text).map((line) => line.trim());
}

/** The lines of a text, as they are, at every end of a line that some tool knows. */
export function splitLines(text: string): string[] {
  return /[\r\u2028\u2029\u0085]/.test(text) ? text.split(/\r\n|[\r\n\u2028\u2029\u0085]/) : text.split('\n');
}

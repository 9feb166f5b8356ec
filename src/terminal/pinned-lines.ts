import { cutEnd, widthOf } from './columns/width.ts';

export interface PinnedLinesOptions {
  readonly write: (text: string) => unknown;
  /** Of the window, as it is now. */
  readonly columns: () => number;
  readonly rows: () => number;
}

/** Lines at the bottom of a terminal that are redrawn in place, below lines that stay. */
export interface PinnedLines {
  /** Draws these lines in place of the last ones. Cleaned. Each is cut to the window. */
  draw(lines: readonly string[]): void;
  /** Removes the lines, so that another line can be printed. */
  clear(): void;
  /** Leaves the lines where they are: another program wrote below them. */
  leave(): void;
}

/** Writes to a terminal that moves its cursor. */
export function openPinnedLines({ write, columns, rows }: PinnedLinesOptions): PinnedLines {
  let drawn: readonly string[] = [];
  const clear = (): void => {
    if (drawn.length > 0) write(removal(drawn, columns()));
    drawn = [];
  };
  return {
    clear,
    leave() {
      drawn = [];
    },
    draw(lines) {
      // The last column stays free: some terminals wrap when it is written.
      const room = Math.max(1, columns() - 1);
      // One row for the cursor. Lines that left the screen could not be removed.
      const shown = lines.slice(0, Math.max(1, rows() - 1)).map((line) => cutEnd(line, room));
      const before = drawn.length > 0 ? removal(drawn, columns()) : '';
      write(`${before}${shown.map((line) => `${line}\n`).join('')}`);
      drawn = shown;
    },
  };
}

/** Goes up over the lines and removes them. A window that became narrower shows a line in several rows. */
function removal(lines: readonly string[], columns: number): string {
  const height = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns))), 0);
  return `\x1b[${height}A\r\x1b[J`;
}

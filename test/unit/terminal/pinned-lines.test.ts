import { Terminal } from '@xterm/headless';
import { expect, it } from 'vitest';
import { openPinnedLines } from '../../../src/terminal/pinned-lines.ts';

function openScreen(cols: number, rows: number) {
  const terminal = new Terminal({ cols, rows, allowProposedApi: true, convertEol: true });
  let [columns, height] = [cols, rows];
  let pending = Promise.resolve();
  const write = (text: string): void => {
    pending = pending.then(() => new Promise<void>((resolve) => terminal.write(text, resolve)));
  };
  return {
    write,
    board: openPinnedLines({ write, columns: () => columns, rows: () => height }),
    async resize(width: number, lines: number): Promise<void> {
      await pending;
      terminal.resize(width, lines);
      [columns, height] = [width, lines];
    },
    async shown(): Promise<string[]> {
      await pending;
      const { active } = terminal.buffer;
      const all = Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? '');
      return all.filter((line) => line !== '');
    },
  };
}

it('draws lines in place, below lines that stay, and removes them', async () => {
  const { board, write, shown } = openScreen(20, 8);
  board.draw(['one', 'two']);
  board.draw(['one again']);
  board.clear();
  write('stays\n');
  board.draw(['x'.repeat(40), '日本語'.repeat(10)]);
  expect(await shown()).toEqual(['stays', `${'x'.repeat(18)}…`, `${'日本語'.repeat(3)}…`]);
  board.clear();
  expect(await shown()).toEqual(['stays']);
});

it('draws no more lines than the window has rows, so that all of them can be removed', async () => {
  const { board, shown } = openScreen(20, 4);
  for (const round of ['a', 'b', 'c']) board.draw(['1', '2', '3', '4', '5', '6'].map((line) => `${round}${line}`));
  expect(await shown()).toEqual(['c1', 'c2', 'c3']);
});

it('removes all of its rows in a window that became narrower', async () => {
  const { board, shown, resize } = openScreen(40, 8);
  board.draw(['a'.repeat(39), 'b'.repeat(30)]);
  await resize(16, 8);
  board.draw(['short']);
  expect(await shown()).toEqual(['short']);
});

it('draws below what another program printed after the lines', async () => {
  const { board, write, shown } = openScreen(40, 10);
  board.draw(['one', 'two']);
  write('[1]+  Stopped\n$ fg\n');
  board.leave();
  board.draw(['three']);
  expect(await shown()).toEqual(['one', 'two', '[1]+  Stopped', '$ fg', 'three']);
});

import { Terminal } from '@xterm/headless';
import type { Pty } from './pty.ts';

/** The lines that a terminal of this size shows after what a program printed to it so far, without trailing spaces. */
export async function linesOnScreen(pty: Pty, cols: number, rows: number): Promise<string> {
  const terminal = new Terminal({ cols, rows, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(pty.output, resolve));
  const { active } = terminal.buffer;
  const line = (y: number): string => active.getLine(active.baseY + y)?.translateToString(true) ?? '';
  return Array.from({ length: rows }, (_, y) => line(y)).join('\n');
}

import { emitKeypressEvents } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';

/** A key as readline names it, or the character that was typed. */
export interface Key {
  /** 'up', 'return', 'escape'; '' where it has no name. */
  readonly name: string;
  /** The character; '' for keys without one. */
  readonly text: string;
  readonly ctrl: boolean;
}

/** The whole terminal, on the screen that full-screen programs use: what was printed before comes again at its end. */
export interface FullScreen extends Disposable {
  /** Replaces what is shown. Lines are cleaned, and as wide as the terminal at most. */
  draw(lines: readonly string[]): void;
  size(): { readonly columns: number; readonly rows: number };
}

export interface FullScreenOptions {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly onKey: (key: Key) => void;
  readonly onResize: () => void;
}

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';

/** Takes the terminal until it is disposed. Ctrl-C is a key. */
export function openFullScreen({ stdin, stdout, onKey, onResize }: FullScreenOptions): FullScreen {
  const press = (text: string | undefined, key: { readonly name?: string; readonly ctrl?: boolean }): void => {
    const isText = text !== undefined && /^[^\p{Cc}]+$/u.test(text);
    onKey({ name: key.name ?? '', text: isText ? text : '', ctrl: key.ctrl === true });
  };
  emitKeypressEvents(stdin);
  const wasRaw = stdin.isRaw === true;
  stdin.setRawMode(true);
  stdin.on('keypress', press);
  stdin.resume();
  stdout.on('resize', onResize);
  stdout.write(ENTER);
  return {
    draw(lines) {
      // Each line is cleared behind its text: nothing flickers.
      const text = lines.map((line) => `${line}\x1b[0m\x1b[K`).join('\r\n');
      stdout.write(`\x1b[?2026h\x1b[H${text}\x1b[J\x1b[?2026l`);
    },
    // A serial console or a container can have a terminal of 0 × 0.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    [Symbol.dispose]() {
      stdin.off('keypress', press);
      stdin.pause();
      stdin.setRawMode(wasRaw);
      stdout.off('resize', onResize);
      stdout.write(LEAVE);
    },
  };
}

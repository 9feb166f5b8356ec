import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Terminal } from '@xterm/headless';
import { expect } from 'vitest';
import { Pty, type PtyOptions } from './pty.ts';

export interface ScreenOptions extends PtyOptions {
  readonly columns: number;
  readonly rows: number;
  /** Folder of the approved screens. `UPDATE_SCREENS=1` writes them instead of comparing. */
  readonly approved: string;
  /** Replaces what differs from run to run. */
  readonly normalise: (screen: string) => string;
}

const UPDATING = process.env['UPDATE_SCREENS'] === '1';
/** As in pty.ts: below the limit of a test. */
const WAIT_MS = Number(process.env['TEST_WAIT_MS'] ?? 120_000);
const QUIET_MS = 700;

/**
 * A terminal as a user sees it: a program in a real pseudo-terminal, its output drawn by an emulator of the same size,
 * its screens compared with approved ones.
 */
export class TerminalScreen implements AsyncDisposable {
  readonly #pty: Pty;
  readonly #terminal: Terminal;
  readonly #options: ScreenOptions;
  #drawn = 0;

  constructor(argv: readonly string[], options: ScreenOptions) {
    this.#options = options;
    this.#pty = new Pty(argv, options);
    this.#terminal = new Terminal({
      cols: options.columns,
      rows: options.rows,
      allowProposedApi: true,
      convertEol: false,
    });
  }

  /** The visible lines, without blanks at their ends. */
  async text(): Promise<string> {
    const fresh = this.#pty.output.slice(this.#drawn);
    this.#drawn = this.#pty.output.length;
    await new Promise<void>((resolve) => this.#terminal.write(fresh, resolve));
    const { active } = this.#terminal.buffer;
    const lines = Array.from(
      { length: this.#options.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? '',
    );
    return this.#options.normalise(lines.join('\n').trimEnd());
  }

  /** Waits until the screen matches. */
  async see(pattern: RegExp): Promise<string> {
    return this.#until((text) => pattern.test(text), String(pattern));
  }

  /** Waits until the screen matches and is, to the character, the approved one of that name. */
  async seeApproved(name: string, pattern: RegExp): Promise<void> {
    const { approved, columns, rows } = this.#options;
    const file = path.join(approved, `${columns}x${rows}`, `${name}.txt`);
    const seen = await this.see(pattern);
    for (const line of seen.split('\n')) expect(line.length, line).toBeLessThanOrEqual(columns);
    if (UPDATING) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${await this.#whenQuiet()}\n`);
      return;
    }
    const wanted = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '';
    await this.#until((text) => text === wanted, name).catch(async () => {
      expect(await this.text(), `the screen ${name} at ${columns}x${rows}`).toBe(wanted);
    });
  }

  /** Types keys as they are; Enter is `\r`. */
  send(keys: string): void {
    this.#pty.send(keys);
  }

  async #whenQuiet(): Promise<string> {
    for (;;) {
      const before = await this.text();
      await pause(QUIET_MS);
      if ((await this.text()) === before) return before;
    }
  }

  async #until(matches: (text: string) => boolean, what: string): Promise<string> {
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      const text = await this.text();
      if (matches(text)) return text;
      if (Date.now() > deadline) throw new Error(`${what} does not show:\n${text}`);
      await pause(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pty[Symbol.asyncDispose]();
    this.#terminal.dispose();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

export interface PtyOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** Below the limit of a test, so that its failure shows the screen (vitest.config.ts). */
const WAIT_MS = Number(process.env['TEST_WAIT_MS'] ?? 120_000);

/** A program in a real pseudo-terminal (util-linux `script`), driven by keys, with everything it printed. */
export class Pty implements AsyncDisposable {
  /** Everything it printed, raw. */
  output = '';
  readonly exited: Promise<number>;
  readonly #child: ChildProcess;
  #changed: () => void = () => undefined;

  constructor(argv: readonly string[], options: PtyOptions) {
    const quoted = argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const size = `stty cols ${options.columns ?? 80} rows ${options.rows ?? 24}; exec ${quoted}`;
    this.#child = spawn('script', ['-qefc', size, '/dev/null'], {
      cwd: options.cwd,
      env: { TERM: 'xterm-256color', ...options.env, SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.output += chunk;
      this.#changed();
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.#changed();
        resolve(code ?? 128);
      });
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  send(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Types into a full-screen program and waits a second until it has drawn, so that the next key is a separate one. */
  async type(text: string): Promise<void> {
    const from = this.output.length;
    this.send(text);
    await this.see(/./s, { from });
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }

  /** Types a line and Enter into such a program, apart: together they would count as pasted text. */
  async enter(text: string): Promise<void> {
    await this.type(text);
    this.send('\r');
  }

  /** Presses a key until it shows: a program that is about to ask may drop one. */
  async press(key: string, words: RegExp, options: { readonly from?: number } = {}): Promise<number> {
    const pattern = acrossLines(words);
    const shows = (): boolean => pattern.test(this.output.slice(options.from ?? 0));
    for (let tries = 0; tries < 60 && !shows(); tries += 1) {
      this.send(key);
      await this.see(pattern, { ...options, timeoutMs: 3000 }).catch(() => undefined);
    }
    return this.see(pattern, { ...options, timeoutMs: 0 });
  }

  /** Another size of the window: the kernel tells the programs in it. */
  resize(columns: number, rows: number): void {
    const [inside = ''] = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').split(' ');
    const terminal = readlinkSync(`/proc/${inside}/fd/0`);
    execFileSync('stty', ['-F', terminal, 'cols', String(columns), 'rows', String(rows)]);
  }

  /** End of input, as when the terminal is closed. */
  end(): void {
    this.#child.stdin?.end();
  }

  /**
   * Waits until the output since `from` matches; throws with the tail of the output otherwise. A blank of the pattern is
   * any white space: messages are wrapped to the window.
   */
  async see(words: RegExp, options: { readonly from?: number; readonly timeoutMs?: number } = {}): Promise<number> {
    const deadline = Date.now() + (options.timeoutMs ?? WAIT_MS);
    const pattern = acrossLines(words);
    for (;;) {
      const from = options.from ?? 0;
      const match = pattern.exec(this.output.slice(from));
      if (match) return from + match.index + match[0].length;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`did not see ${pattern} in:\n${this.output.slice(-4000)}`);
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#changed = resolve;
        }),
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, Math.min(left, 250));
        }),
      ]);
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await this.exited;
  }
}

/** A question's last line is drawn with the cursor moved first. */
const BETWEEN_WORDS = '(?:\\s|\\x1b\\[[0-9;?]*[A-Za-z])+';

function acrossLines({ source, flags }: RegExp): RegExp {
  // Not within brackets; several blanks are one gap too.
  return new RegExp(
    source.replace(/\\.|\[(?:\\.|[^\]])*\]| (?:\{\d+\})?/g, (part) => (part.startsWith(' ') ? BETWEEN_WORDS : part)),
    flags,
  );
}

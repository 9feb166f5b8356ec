import { once } from 'node:events';
import type { WriteStream } from 'node:tty';
import { spawn } from '../core/host/programs/start-program.ts';
import type { Interruption } from './interruption.ts';

/** The destination of a command's data: the user's pager on a terminal, plain stdout elsewhere. */
export interface Output extends AsyncDisposable {
  /** Text must be cleaned. Resolves when the reader can take more. */
  write(text: string): Promise<void>;
  /** Fires when the reader has closed its end: the user left the pager, or `| head` has enough. */
  readonly unread: AbortSignal;
}

export interface OutputOptions {
  readonly stdout: NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY'>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interruption: Interruption;
}

/**
 * The program that shows a command's data, chosen as git does: $GIT_PAGER, $PAGER, otherwise less. Undefined: none, for
 * `cat`, an empty value, or output that is not a terminal. No repository's configuration is read: it may come from a
 * session. Split at blanks, without a shell.
 */
export function outputPager({ stdout, env }: Pick<OutputOptions, 'stdout' | 'env'>): readonly string[] | undefined {
  const term = env['TERM'] ?? 'dumb';
  if (stdout.isTTY !== true || term === 'dumb' || term === '') return undefined;
  const words = (env['GIT_PAGER'] ?? env['PAGER'] ?? 'less').split(/\s+/).filter((word) => word !== '');
  return words.length === 0 || words[0] === 'cat' ? undefined : words;
}

/** Opens the output. Disposing it ends the pager's input and waits until the user has left the pager. */
export function openOutput(options: OutputOptions): Output {
  const pager = outputPager(options);
  return pager === undefined ? plainOutput(options) : pagedOutput(pager, options);
}

function plainOutput({ stdout }: Pick<OutputOptions, 'stdout'>): Output {
  const unread = new AbortController();
  stdout.once('error', () => unread.abort());
  return {
    unread: unread.signal,
    write: (text) => writeAll(stdout, text, unread.signal),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function pagedOutput([command = 'less', ...args]: readonly string[], options: OutputOptions): Output {
  const { env, interruption } = options;
  const { LESSOPEN: _open, LESSCLOSE: _close, LESSKEY: _key, LESSEDIT: _edit, ...rest } = env;
  // In the pager Ctrl-C is a key.
  const lent = interruption.lend();
  const child = spawn(command, args, {
    env: { ...rest, LESS: env['LESS'] ?? 'FRX', LESSSECURE: '1', LESSHISTFILE: '-' },
    cwd: '/',
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const unread = new AbortController();
  const plain = plainOutput(options);
  let isMissing = false;
  const started = once(child, 'spawn').catch(() => {
    isMissing = true;
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  // The pager may be left before it has read everything.
  child.stdin.on('error', () => unread.abort());
  void closed.then(() => isMissing || unread.abort());
  const stop = (): void => void child.kill('SIGTERM');
  interruption.signal.addEventListener('abort', stop);
  return {
    unread: unread.signal,
    async write(text) {
      await started;
      await (isMissing ? plain.write(text) : writeAll(child.stdin, text, unread.signal));
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
      interruption.signal.removeEventListener('abort', stop);
      lent[Symbol.dispose]();
    },
  };
}

async function writeAll(stream: NodeJS.WritableStream, text: string, unread: AbortSignal): Promise<void> {
  if (unread.aborted || stream.write(text)) return;
  await once(stream, 'drain', { signal: unread }).catch(() => undefined);
}

import { createInterface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Interruption } from './interruption.ts';
import { wrapWords } from './wrap-words.ts';

/** The user's terminal. Questions go to stderr: stdout is the agent's. */
export interface Screen {
  readonly stdin: ReadStream;
  readonly stderr: WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly colour: boolean;
  /** TERM is dumb or unknown: no cursor movement. */
  readonly dumb: boolean;
  readonly interruption?: Interruption;
}

const SILENCE_MS = 500;
const PREFIX = '[sandbox] ';
/** Columns behind the question: a blank, one key, and the cursor. */
const ANSWER_COLUMNS = 3;

/** Loaded at the first question: most commands ask nothing. */
const loadEnquirer = () => import('enquirer');

/** Loads enquirer for a later question: run-claude may be replaced on the disk before. A failure shows at the question. */
export async function preloadPrompt(): Promise<void> {
  await loadEnquirer().catch(() => undefined);
}

/**
 * The line that the user types, or undefined at Ctrl-C, Ctrl-D, end of input or abort. `message` must be cleaned.
 * Preconditions: stdin is a terminal.
 */
export async function askLine(screen: Screen, message: string): Promise<string | undefined> {
  if (screen.dumb) return askPlain(screen, message);
  const prefix = message.startsWith(PREFIX) ? PREFIX : '';
  const columns = (screen.stderr.columns ?? Number.POSITIVE_INFINITY) - prefix.length - ANSWER_COLUMNS;
  const lines = wrapWords(message.slice(prefix.length), columns);
  const shown = lines.map((line, at) => `${at === 0 ? prefix : ' '.repeat(prefix.length)}${line}`);
  // Only the last line is enquirer's, which would break a line within a word.
  for (const line of shown.slice(0, -1)) screen.stderr.write(`${line}\n`);
  return askEnquirer(screen, shown.at(-1) ?? message);
}

/** Whether an answer to `[y/N]` is a yes. Anything else is a no, and so is the lack of an answer. */
export function isYes(answer: string | undefined): boolean {
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
}

/**
 * Drops what was typed before, and waits until half a second has passed without a key, so that a key meant for the
 * agent does not answer run-claude. False at Ctrl-C, end of input or abort.
 */
export async function waitForSilence(screen: Screen): Promise<boolean> {
  const { stdin } = screen;
  // Loaded by the time of the question, so that no key is lost in between.
  void preloadPrompt();
  const wasRaw = stdin.isRaw;
  stdin.setRawMode?.(true);
  const quiet = await new Promise<boolean>((resolve) => {
    let timer = setTimeout(() => done(true), SILENCE_MS);
    const done = (result: boolean): void => {
      clearTimeout(timer);
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onEnd);
      screen.interruption?.signal.removeEventListener('abort', onEnd);
      resolve(result);
    };
    const onData = (chunk: Buffer | string): void => {
      if (Buffer.from(chunk).includes(3)) {
        done(false);
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => done(true), SILENCE_MS);
    };
    const onEnd = (): void => done(false);
    stdin.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', onEnd);
    screen.interruption?.signal.addEventListener('abort', onEnd);
    stdin.resume();
    if (screen.interruption?.signal.aborted || stdin.readableEnded || stdin.destroyed) done(false);
  });
  stdin.pause();
  if (!stdin.destroyed) stdin.setRawMode?.(wasRaw);
  return quiet;
}

/** The used part of enquirer's Input prompt; its own types leave the class out. */
interface InputPrompt {
  run(): Promise<string>;
  cancel(): Promise<void>;
  once(event: 'close', listener: () => void): void;
  cursorHide: () => void;
  cursorShow(): void;
  prefix: () => Promise<string>;
  separator: () => Promise<string>;
}
type InputConstructor = new (options: Record<string, unknown>) => InputPrompt;

async function askEnquirer(screen: Screen, message: string): Promise<string | undefined> {
  const { stdin, stderr } = screen;
  const { default: enquirer } = await loadEnquirer();
  if (stdin.readableEnded || stdin.destroyed || screen.interruption?.signal.aborted) return undefined;
  const Input = (enquirer as unknown as { Input: InputConstructor }).Input;
  const prompt = new Input({
    name: 'answer',
    message,
    stdin,
    stdout: stderr,
    styles: { primary: (text: string) => text, em: (text: string) => text, strong: (text: string) => text },
    // In raw mode Ctrl-D is a key; to the user it is the end of input.
    actions: { ctrl: { c: 'cancel', d: 'cancel', j: 'submit', u: 'reset', w: 'cutLeft', a: 'first', e: 'last' } },
  });
  // Its own marks would be printed before and after the question, whose exact words scripts and users rely on.
  prompt.prefix = async () => '';
  prompt.separator = async () => '';
  // enquirer's own function ends the process at a signal, before anything is cleaned up.
  prompt.cursorHide = () => {
    stderr.write('\x1b[?25l');
    prompt.once('close', () => prompt.cursorShow());
  };
  // enquirer's promise stays pending at end of input.
  let end: () => void = () => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
  });
  const ends = ['end', 'error', 'close'] as const;
  for (const event of ends) stdin.once(event, end);
  screen.interruption?.signal.addEventListener('abort', end);
  try {
    const answer = prompt.run().catch(() => undefined);
    const result = await Promise.race([answer, ended]);
    if (result === undefined) await prompt.cancel().catch(() => undefined);
    return result;
  } finally {
    for (const event of ends) stdin.off(event, end);
    screen.interruption?.signal.removeEventListener('abort', end);
    stdin.pause();
  }
}

async function askPlain(screen: Screen, message: string): Promise<string | undefined> {
  const { stdin, stderr } = screen;
  if (stdin.readableEnded || stdin.destroyed || screen.interruption?.signal.aborted) return undefined;
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  // Without raw mode Ctrl-C is a signal; at a question it is an answer.
  using _lent = screen.interruption?.lend();
  return await new Promise((resolve) => {
    const onAbort = (): void => lines.close();
    screen.interruption?.signal.addEventListener('abort', onAbort);
    process.once('SIGINT', onAbort);
    let answer: string | undefined;
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    lines.once('close', () => {
      process.off('SIGINT', onAbort);
      screen.interruption?.signal.removeEventListener('abort', onAbort);
      if (answer === undefined) stderr.write('\n');
      stdin.pause();
      resolve(answer);
    });
    // After the listeners: the answer may come at once.
    stderr.write(`${message} `);
  });
}

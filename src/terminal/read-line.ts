import { createInterface } from 'node:readline';
import { wrapWords } from './columns/wrap-words.ts';
import { PREFIX, type Screen } from './screen.ts';

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
export async function readLine(screen: Screen, message: string): Promise<string | undefined> {
  if (screen.dumb) return readPlain(screen, message);
  const prefix = message.startsWith(PREFIX) ? PREFIX : '';
  const columns = (screen.stderr.columns ?? Number.POSITIVE_INFINITY) - prefix.length - ANSWER_COLUMNS;
  const lines = wrapWords(message.slice(prefix.length), columns);
  const shown = lines.map((line, at) => `${at === 0 ? prefix : ' '.repeat(prefix.length)}${line}`);
  // Only the last line is enquirer's, which would break a line within a word.
  for (const line of shown.slice(0, -1)) screen.stderr.write(`${line}\n`);
  return readWithEnquirer(screen, shown.at(-1) ?? message);
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

const asIs = (text: string): string => text;
const BARE_STYLES = { primary: asIs, em: asIs, strong: asIs };
/** enquirer colours the answer and the cursor's block, whatever NO_COLOR says. The block stays, by reverse video. */
const COLOURLESS_STYLES = { success: asIs, danger: asIs, black: asIs };

async function readWithEnquirer(screen: Screen, message: string): Promise<string | undefined> {
  const { stdin, stderr } = screen;
  const { default: enquirer } = await loadEnquirer();
  if (stdin.readableEnded || stdin.destroyed || screen.interruption?.signal.aborted) return undefined;
  const Input = (enquirer as unknown as { Input: InputConstructor }).Input;
  const prompt = new Input({
    name: 'answer',
    message,
    stdin,
    stdout: stderr,
    styles: { ...BARE_STYLES, ...(screen.colour ? {} : COLOURLESS_STYLES) },
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

async function readPlain(screen: Screen, message: string): Promise<string | undefined> {
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

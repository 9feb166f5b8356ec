import { cleanLine } from './clean.ts';
import { cutEnd } from './columns/width.ts';
import { readLine } from './read-line.ts';
import { say } from './say.ts';
import { PREFIX, type Screen } from './screen.ts';
import { dropTyped, SILENCE_MS, TYPED_AHEAD_MS } from './silence.ts';

/** A question of run-claude: what is asked, and a table of its answers. Every text is cleaned. */
export interface Question<Key extends string = string> {
  /** Without prefix and answers, as 'Start the session?'. */
  readonly text: string;
  /**
   * What each answer does, in the order in which they are shown. `y` and `n` have the words `yes` and `no` too. An answer of
   * several letters is typed whole, and is not listed behind the question.
   */
  readonly answers: Readonly<Record<Key, string>>;
  /** The answer that Enter stands for: the safe one. */
  readonly onEnter: NoInfer<Key>;
  /** What `?` prints above the answers: what is on the screen. */
  readonly about: readonly string[];
  /** What may follow an answer, as the folder of `l FOLDER`. */
  readonly takes?: Readonly<Partial<Record<NoInfer<Key>, RegExp>>>;
  /** The keys before it may have been for the agent: half a second without a key passes before it is asked. */
  readonly waitsForSilence?: boolean;
}

export interface Answer<Key extends string> {
  readonly key: Key;
  /** What followed the key, as it was typed. Empty where nothing did. */
  readonly rest: string;
}

const SYNONYMS: Readonly<Record<string, string>> = { yes: 'y', no: 'n' };
/** Of an answer that is not one. */
const MAX_QUOTED_COLUMNS = 40;

/**
 * Asks until one of the question's answers is typed: the only way in which run-claude asks anything on a terminal. `?`
 * explains the screen and each answer; another word is reported, with the answers, and the question is asked again. What
 * was typed before the question is on the screen is dropped: it was for something else. Undefined at Ctrl-C, Ctrl-D, end
 * of input or abort, which never stand for a yes. Preconditions: stdin and stderr are a terminal.
 */
export async function ask<Key extends string>(
  screen: Screen,
  question: Question<Key>,
): Promise<Answer<Key> | undefined> {
  const message = questionLine(question);
  for (let silenceMs = question.waitsForSilence ? SILENCE_MS : TYPED_AHEAD_MS; ; silenceMs = TYPED_AHEAD_MS) {
    if (!(await dropTyped(screen, silenceMs))) return undefined;
    const typed = (await readLine(screen, message))?.trim();
    if (typed === undefined) return undefined;
    const answer = answerOf(question, typed);
    if (answer !== undefined) return answer;
    if (typed === '?') say(screen, [...question.about, ...answerLines(question)]);
    else {
      const quoted = cutEnd(cleanLine(typed), MAX_QUOTED_COLUMNS);
      say(screen, [`'${quoted}' is not an answer here.`, ...answerLines(question)]);
    }
  }
}

/** Asks a question whose answer is yes or no. Anything but a `y` is a no. */
export async function askYesNo(screen: Screen, question: Question<'y' | 'n'>): Promise<boolean> {
  return (await ask(screen, question))?.key === 'y';
}

function answerOf<Key extends string>(
  { answers, onEnter, takes }: Question<Key>,
  typed: string,
): Answer<Key> | undefined {
  if (typed === '') return { key: onEnter, rest: '' };
  const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/su.exec(typed) ?? [];
  const lower = word.toLowerCase();
  const keys = Object.keys(answers) as Key[];
  const key = keys.find((one) => one === lower) ?? keys.find((one) => one === SYNONYMS[lower]);
  if (key === undefined || (rest !== '' && takes?.[key]?.test(rest) !== true)) return undefined;
  return { key, rest };
}

/** '[sandbox] Start the session? [Y/n/?]:'. */
function questionLine<Key extends string>({ text, answers, onEnter }: Question<Key>): string {
  const letters = Object.keys(answers).filter((key) => key.length === 1);
  const shown = letters.map((key) => (key === onEnter ? key.toUpperCase() : key));
  return `${PREFIX}${text}${letters.length > 1 ? ` [${shown.join('/')}/?]` : ''}:`;
}

function answerLines<Key extends string>({ answers, onEnter }: Question<Key>): string[] {
  const rows = Object.entries<string>(answers);
  const width = rows.reduce((most, [key]) => Math.max(most, key.length), 0);
  return rows.map(([key, does]) => `${key.padEnd(width)}  ${key === onEnter ? withEnter(does) : does}`);
}

/** 'leave them (also Enter)', and 'end here (also Ctrl-C or Enter)' where another key does the same. */
function withEnter(does: string): string {
  return / \(also [^)]+\)$/.test(does) ? does.replace(/\)$/, ' or Enter)') : `${does} (also Enter)`;
}

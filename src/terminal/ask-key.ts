import { askLine, type Screen } from './ask.ts';
import { say } from './say.ts';

/** A question that is answered by one key and Enter. */
export interface KeyMenu<Key extends string> {
  /** Without prefix and question mark; must be cleaned. */
  readonly question: string;
  /** In the order in which they are shown. */
  readonly keys: readonly Key[];
  /** What is printed after `?` and after anything that is not a key. */
  readonly help: readonly string[];
  /** The key that Enter stands for. */
  readonly onEnter?: Key;
  /** Keys as they are shown, where not as they are typed: `N` for the key that Enter stands for. */
  readonly shown?: Readonly<Partial<Record<Key, string>>>;
  /** Between the shown keys. Default: a comma. */
  readonly separator?: ',' | '/';
  /** Words that may follow a key. */
  readonly words?: readonly string[];
}

export interface KeyAnswer<Key extends string> {
  readonly key: Key;
  readonly word?: string | undefined;
}

/**
 * Asks until a key of the menu is typed; `yes` and `no` count as `y` and `n`. Undefined at Ctrl-C, Ctrl-D, end of input
 * or abort. Preconditions: stdin and stderr are a terminal.
 */
export async function askKey<Key extends string>(
  screen: Screen,
  { question, keys, help, onEnter, shown, separator = ',', words = [] }: KeyMenu<Key>,
): Promise<KeyAnswer<Key> | undefined> {
  const listed = [...keys.map((key) => shown?.[key] ?? key), '?'].join(separator);
  for (;;) {
    const line = await askLine(screen, `[sandbox] ${question}? [${listed}]:`);
    if (line === undefined) return undefined;
    const [typed = onEnter, word, ...rest] = line.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const key = keys.find(
      (one) => one === typed || (typed === 'yes' && one === 'y') || (typed === 'no' && one === 'n'),
    );
    if (key !== undefined && rest.length === 0 && (word === undefined || words.includes(word))) return { key, word };
    say(screen, help);
  }
}

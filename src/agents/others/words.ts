import type { Policy } from '../../core/types/policy.ts';

type Arity = 'none' | 'one' | 'optional' | 'many';

/** How an agent reads its words, as data. */
export interface WordTable {
  /** Options by how many words they take, each list separated by white space. */
  readonly options: Partial<Readonly<Record<Arity, string>>>;
  /** Words that ask for one answer on stdout: a subcommand in the first place, or an option. */
  readonly printsWith: readonly string[];
  /** Subcommands and options that choose a conversation. */
  readonly conversations: readonly string[];
  /** Subcommands that continue no conversation, separated by white space. */
  readonly withoutConversation?: string;
  /** Options that choose a permission mode. */
  readonly permissionOptions: readonly string[];
  /** The words of each permission mode. */
  readonly permissions: Readonly<Record<Policy['permissions'], readonly string[]>>;
  /** The option whose value is the prompt; without one it is the first plain word. */
  readonly promptOption?: string;
}

interface ReadWord {
  readonly name: string;
  /** With its value, where that is in the same word. */
  readonly word: string;
  /** The value in the next word, where there is one. */
  readonly value: string | undefined;
}

/** Functions that read an agent's words by its table. */
export function readerOf(table: WordTable) {
  const arities = new Map<string, Arity>();
  for (const [arity, names] of Object.entries(table.options))
    for (const name of names.trim().split(/\s+/)) arities.set(name, arity as Arity);

  const readOption = (word: string): { readonly arity: Arity; readonly joined: boolean } | undefined => {
    const [, name = '', joined] = /^(-[^=]*)(=[\s\S]*)?$/.exec(word) ?? [];
    const arity = arities.get(name);
    return arity === undefined ? undefined : { arity, joined: joined !== undefined };
  };

  /** Every option, subcommand and prompt; what follows `--` is a prompt. */
  const read = (words: readonly string[]): { readonly options: ReadWord[]; readonly plain: string[] } => {
    const options: ReadWord[] = [];
    const plain: string[] = [];
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? '';
      if (word === '--') return { options, plain: [...plain, ...words.slice(at + 1)] };
      if (!word.startsWith('-') || word === '-') {
        plain.push(word);
        continue;
      }
      const option = readOption(word);
      const takes = option !== undefined && !option.joined && (option.arity === 'one' || option.arity === 'many');
      const value = takes ? words[++at] : undefined;
      options.push({ name: word.split('=', 1)[0] ?? word, word, value });
    }
    return { options, plain };
  };

  const withoutConversation = (table.withoutConversation ?? '').split(/\s+/).filter(Boolean);

  const has = (words: readonly string[], names: readonly string[]): boolean => {
    const { options, plain } = read(words);
    return names.includes(plain[0] ?? '') || options.some(({ name }) => names.includes(name));
  };

  const permissionWords = (words: readonly string[]): readonly string[] =>
    read(words).options.flatMap(({ name, word, value }) => {
      if (!table.permissionOptions.includes(name)) return [];
      return value === undefined ? [word] : [word, value];
    });

  return {
    optionNames: [...arities.keys()],
    readOption,
    /** Where the options from `from` on end, or one begins that takes any number of words. */
    endOfOptions: (words: readonly string[], from: number): number => {
      let at = from;
      for (let word = words[at] ?? ''; /^-(?!-?$)/.test(word); word = words[at] ?? '') {
        const option = readOption(word);
        if (option?.arity === 'many') return at;
        at += option?.arity === 'one' && !option.joined ? 2 : 1;
      }
      return Math.min(at, words.length);
    },
    asksForPrint: (words: readonly string[]): boolean => has(words, table.printsWith),
    choosesConversation: (words: readonly string[]): boolean => {
      const { plain } = read(words);
      return has(words, table.conversations) || withoutConversation.includes(plain[0] ?? '');
    },
    promptOf: (words: readonly string[]): string | undefined => {
      const { options, plain } = read(words);
      const named = options.find(({ name }) => name === table.promptOption)?.value;
      const subcommands = [...table.printsWith, ...table.conversations];
      return named ?? plain.find((word) => !subcommands.includes(word));
    },
    permissionWords,
    withPermissions: (words: readonly string[], permissions: Policy['permissions']): readonly string[] =>
      permissionWords(words).length > 0 ? words : [...table.permissions[permissions], ...words],
  };
}

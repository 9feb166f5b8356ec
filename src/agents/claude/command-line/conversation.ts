import { optionNames, readClaudeOption } from './options.ts';

/** Whether words for Claude ask for its print mode (`-p`). */
export function asksForPrint(words: readonly string[]): boolean {
  return optionNames(words).some((name) => name === '-p' || name === '--print');
}

const CONVERSATION_OPTIONS: ReadonlySet<string> = new Set(
  '-c --continue -r --resume --session-id --from-pr --teleport'.split(' '),
);

/** Whether words for Claude choose the conversation to continue or to begin. */
export function choosesConversation(words: readonly string[]): boolean {
  return optionNames(words).some((name) => CONVERSATION_OPTIONS.has(name));
}

/** What words for Claude name as the conversation to continue: an id, or whatever else is written there. */
export function namedConversation(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    if (word === '--') return undefined;
    if (word === '--resume' || word === '-r') return words[at + 1];
    if (word.startsWith('--resume=')) return word.slice('--resume='.length);
  }
  return undefined;
}

/** The words, with those that continue a conversation. */
export function resumeWords(conversation: string, words: readonly string[]): readonly string[] {
  return ['--resume', conversation, ...words];
}

const CONVERSATION_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The prompt among words for Claude: the first word that is neither an option nor the value of one. */
export function promptOf(words: readonly string[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return words[at + 1];
    const option = readClaudeOption(word);
    if (option === undefined) return word.startsWith('-') ? undefined : word;
    if (option.joined) continue;
    const takesNext = option.arity === 'one' || option.arity === 'many';
    // `--resume` takes one word or none: the id of a conversation is not a prompt.
    if (takesNext || (option.arity === 'optional' && CONVERSATION_ID.test(words[at + 1] ?? ''))) at++;
  }
  return undefined;
}

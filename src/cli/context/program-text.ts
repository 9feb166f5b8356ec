import { maskWords } from '../../plan/mask-words.ts';
import type { Program } from '../../types/plan.ts';
import { readClaudeOption } from '../grammar/claude-options.ts';

/**
 * What a session ran, for a listing: the user's prompt in quotes, or the command. Values that look like secrets are
 * masked in a command. Not cleaned: clean it before it is printed.
 */
export function programText(program: Program): string {
  switch (program.kind) {
    case 'exec':
      return commandText(program.argv);
    case 'shell':
      return ['shell', commandText(program.args)].filter((part) => part !== '').join(' ');
    case 'claude': {
      const prompt = promptOf(program.args);
      return prompt === undefined ? ['claude', commandText(program.args)].join(' ').trim() : `"${oneLine(prompt)}"`;
    }
  }
}

const CONVERSATION_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The prompt among words for Claude: the first that is neither an option nor the value of one. */
export function promptOf(words: readonly string[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return words[at + 1];
    const option = readClaudeOption(word);
    if (option === undefined) return word.startsWith('-') ? undefined : word;
    if (option.joined) continue;
    const takesNext = option.arity === 'one' || option.arity === 'many';
    // `--resume` takes one or none: the name of a conversation is no prompt.
    if (takesNext || (option.arity === 'optional' && CONVERSATION_ID.test(words[at + 1] ?? ''))) at++;
  }
  return undefined;
}

/** Words as a shell would read them, on one line. */
function commandText(words: readonly string[]): string {
  const quoted = (word: string): string =>
    /^[\w@%+=:,./[\]-]+$/.test(word) ? word : `'${oneLine(word).replaceAll("'", "'\\''")}'`;
  return maskWords(words).map(quoted).join(' ');
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

import { agentOf, promptOf } from '../../agents/agents.ts';
import { maskWords } from '../../core/text/mask-words.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { Program } from '../../core/types/plan.ts';

/**
 * What a session ran, for a listing: the user's prompt in quotes, or the command. In a command, values that look like
 * secrets are masked. The text is not cleaned for the terminal.
 */
export function programText(program: Program): string {
  if (program.kind === 'exec') return commandText(program.argv);
  if (program.kind === 'kept') return 'kept for commands';
  const prompt = promptOf(program);
  if (prompt !== undefined) return `"${oneLine(prompt)}"`;
  return [agentOf(program)?.name ?? 'shell', commandText(program.args)].filter((part) => part !== '').join(' ');
}

/** Words quoted for a shell, on one line. */
function commandText(words: readonly string[]): string {
  return maskWords(words)
    .map((word) => (/^[\w@%+=:,./[\]-]+$/.test(word) ? word : shellWord(oneLine(word))))
    .join(' ');
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

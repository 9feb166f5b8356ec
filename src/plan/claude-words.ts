import type { Policy } from '../types/policy.ts';

/**
 * The words among Claude's that choose its permission mode, as they were written; empty where none does. Words after
 * `--` are a prompt.
 */
export function permissionWords(words: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const [at, word] of words.entries()) {
    if (word === '--') break;
    if (word === '--permission-mode') found.push(word, ...words.slice(at + 1, at + 2));
    else if (word === '--dangerously-skip-permissions' || word.startsWith('--permission-mode=')) found.push(word);
  }
  return found;
}

/**
 * The words for Claude with a permission mode in front, where they do not choose one. Claude's own default may answer
 * permission questions by itself, so that `ask` names the mode that asks.
 */
export function withPermissions(words: readonly string[], permissions: Policy['permissions']): readonly string[] {
  if (permissionWords(words).length > 0) return words;
  // Options in front count for every command of Claude's as well.
  return [permissions === 'skip' ? '--dangerously-skip-permissions' : '--permission-mode=default', ...words];
}

/** What the words for Claude name as the conversation to go on with: an id, or whatever else was written there. */
export function namedConversation(words: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    if (word === '--') return undefined;
    if (word === '--resume' || word === '-r') return words[at + 1];
    if (word.startsWith('--resume=')) return word.slice('--resume='.length);
  }
  return undefined;
}

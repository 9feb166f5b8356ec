import type { Policy } from '../../../core/types/policy.ts';

/** Those of the words for Claude that choose its permission mode, unchanged. Words after `--` are a prompt. */
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
 * The words for Claude, with a permission mode in front unless they choose one. `ask` has to name the mode: Claude's own
 * default may answer permission questions by itself.
 */
export function withPermissions(words: readonly string[], permissions: Policy['permissions']): readonly string[] {
  if (permissionWords(words).length > 0) return words;
  // Options in front also count for Claude's subcommands.
  return [permissions === 'skip' ? '--dangerously-skip-permissions' : '--permission-mode=default', ...words];
}

/** How many words an option of Claude's takes: none, one, one or none, one or more. */
type Arity = 'none' | 'one' | 'optional' | 'many';

const table = (arity: Arity, names: string): [string, Arity][] => names.split(' ').map((name) => [name, arity]);

/**
 * Options of the pinned Claude Code: those that its help lists (a test compares them), and some that its help leaves out.
 */
export const CLAUDE_OPTIONS: ReadonlyMap<string, Arity> = new Map([
  ...table(
    'none',
    '--allow-dangerously-skip-permissions --ax-screen-reader --bg --background --bare --brief --chrome -c --continue ' +
      '--dangerously-skip-permissions --desktop --disable-slash-commands --exclude-dynamic-system-prompt-sections ' +
      '--fork-session --forward-subagent-text -h --help --ide --include-hook-events --include-partial-messages ' +
      '--no-chrome --no-session-persistence -p --print --replay-user-messages --restricted --safe-mode ' +
      '--strict-mcp-config --verbose -v --version',
  ),
  ...table(
    'one',
    '--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort ' +
      '--environment --fallback-model --input-format --json-schema --max-budget-usd --model -n --name --output-format ' +
      '--permission-mode --permission-prompt-tool --permission-prompts --plugin-dir --plugin-url ' +
      '--remote-control-session-name-prefix --session-id --setting-sources --settings --system-prompt ' +
      '--system-prompt-file --system-prompt-snapshot',
  ),
  ...table('optional', '--cloud -d --debug --from-pr --prompt-suggestions --remote-control -r --resume --teleport'),
  ...table('optional', '--tmux -w --worktree'),
  ...table('many', '--add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file'),
  ...table('many', '--mcp-config --tools'),
]);

interface ClaudeOption {
  /** One long option, or the short ones of a cluster such as `-cp`. */
  readonly names: readonly string[];
  /** How many words the last of them takes. */
  readonly arity: Arity;
  /** Its value is in the same word. */
  readonly joined: boolean;
}

/** A word as options of Claude's; undefined for any other word, and for a cluster with an unknown option in it. */
export function readClaudeOption(word: string): ClaudeOption | undefined {
  if (word.startsWith('--')) {
    const name = word.split('=', 1)[0] ?? word;
    const arity = CLAUDE_OPTIONS.get(name);
    return arity === undefined ? undefined : { names: [name], arity, joined: word.includes('=') };
  }
  if (!/^-[a-zA-Z]/.test(word)) return undefined;
  const names: string[] = [];
  for (let i = 1; i < word.length; i++) {
    const name = `-${word[i]}`;
    const arity = CLAUDE_OPTIONS.get(name);
    if (arity === undefined) return undefined;
    names.push(name);
    if (arity !== 'none') return { names, arity, joined: i + 1 < word.length };
  }
  return { names, arity: 'none', joined: false };
}

/** The names of all options among words for Claude, read as Claude reads them. */
export function optionNames(words: readonly string[]): string[] {
  const names: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word === '--') break;
    const option = readClaudeOption(word);
    if (option === undefined) continue;
    names.push(...option.names);
    if (option.arity !== 'none' && option.arity !== 'optional' && !option.joined) i++;
  }
  return names;
}

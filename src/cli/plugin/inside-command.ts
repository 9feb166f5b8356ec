import { createHash } from 'node:crypto';
import { shellWord } from '../../core/text/shell-word.ts';

/**
 * Runs the command of $1 where the last one of this conversation ended, and stores where it ends in the file $2. Both
 * are in the container.
 */
const IN_ITS_DIRECTORY = [
  'cd -- "$(cat -- "$2" 2>/dev/null)" 2>/dev/null',
  `trap 'pwd -P >"$2" 2>/dev/null' EXIT`,
  'eval "$1"',
].join('; ');

export interface InsideOptions {
  /** Id of the session. */
  readonly session: string;
  /** Id of the conversation. */
  readonly conversation: string;
  /** Words that start run-claude on the host. */
  readonly runClaude: readonly string[];
}

/** The command of the host's shell that runs a command in a kept session. No shell of the host reads the command itself. */
export function insideCommand(command: string, { session, conversation, runClaude }: InsideOptions): string {
  const key = createHash('sha256').update(conversation).digest('hex').slice(0, 16);
  const inside = ['/bin/bash', '-c', IN_ITS_DIRECTORY, 'bash', command, `/tmp/.directory-${key}`];
  return `${[...runClaude, 'exec', '--session', session, '--', ...inside].map(shellWord).join(' ')} </dev/null`;
}

import { usageError } from '../../core/errors.ts';
import type { Places } from '../../core/host/facts.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Interruption } from '../../terminal/interruption.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';

/** The outside world as every command gets it, so that none reads it by itself. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly places: Places;
  readonly tell: Tell;
  /** Writes a command's data. */
  readonly write: (text: string) => void;
  readonly interruption: Interruption;
}

/** Runs a command. Returns the exit status. */
export type CommandRun = (line: CommandLineOfCommand, context: CommandContext) => Promise<number>;

/** The last value of an option; undefined when it was not given. */
export function optionValue(line: CommandLineOfCommand, name: string): string | undefined {
  return line.options.get(name)?.at(-1);
}

/**
 * As {@link optionValue}, for an option that takes one of a list of words.
 *
 * @throws {RunClaudeError} USAGE for any other word
 */
export function optionChoice<T extends string>(
  line: CommandLineOfCommand,
  name: string,
  words: readonly T[],
): T | undefined {
  const value = optionValue(line, name);
  const choice = words.find((word) => word === value);
  if (choice === undefined && value !== undefined)
    throw usageError(`--${name}: '${value}' is not allowed`, `Write one of: ${words.join(', ')}.`);
  return choice;
}

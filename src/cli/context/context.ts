import { usageError } from '../../errors.ts';
import type { Places } from '../../host/facts.ts';
import type { Interruption } from '../../terminal/interruption.ts';
import type { Tell } from '../../types/event.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';

/** What every command is handed: the outside world, so that none reaches for it. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly places: Places;
  readonly tell: Tell;
  /** Writes a command's data. */
  readonly write: (text: string) => void;
  readonly interruption: Interruption;
}

/** A command's work: its words and the world in, the exit status out. */
export type CommandRun = (line: CommandLineOfCommand, context: CommandContext) => Promise<number>;

/** The one value of an option that takes one, undefined when it was not given. */
export function optionValue(line: CommandLineOfCommand, name: string): string | undefined {
  return line.options.get(name)?.at(-1);
}

/** As {@link optionValue}, for an option that takes one of some words. Throws usageError for any other. */
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

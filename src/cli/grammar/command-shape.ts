import type { Option } from './options.ts';

/** One command, for the grammar and the help. src/cli/commands/ and its folders have a file for each. */
export interface CommandShape {
  readonly name: string;
  /** What follows the name, for the help. */
  readonly usage: string;
  readonly help: string;
  readonly options: readonly CommandOption[];
  /** The most plain words that it takes, not counting those after `--`. */
  readonly maxWords: number;
  /** Takes words after `--`. */
  readonly rest?: true;
}

export type CommandOption = Pick<Option, 'name' | 'short' | 'value' | 'help' | 'many' | 'placeholder'>;

/** Options by their names, the short ones too. */
export function optionsByName(options: readonly CommandOption[]): ReadonlyMap<string, CommandOption> {
  return new Map(
    options.flatMap((option) => [
      [option.name, option] as const,
      ...(option.short === undefined ? [] : [[option.short, option] as const]),
    ]),
  );
}

/** An option without a value. */
export const flag = (name: string, help: string): CommandOption => ({ name, value: 'none', help });
/** An option with a value. */
export const value = (name: string, placeholder: string, help: string): CommandOption => ({
  name,
  value: 'needed',
  placeholder,
  help,
});
/** An option that may be given several times, each time with a glob. */
const globs = (name: string, help: string): CommandOption => ({ ...value(name, 'GLOB', help), many: true });

// Options of several commands, in the same words.

export const JSON_OPTION = flag('json', 'print JSON');
export const YES = flag('yes', 'do not ask');
export const ENGINE = value('engine', 'NAME', 'container engine: auto (default), docker, podman');
export const ON = value('on', 'NAME', 'use this engine of your configuration');
export const ONLY = globs('only', 'apply only these paths');
export const ALLOW_SUSPECT = globs('allow-suspect', 'treat suspect changes of these paths as clean');
export const SKIP = globs('skip', 'leave these paths out');
export const INCLUDE_IGNORED: CommandOption = {
  name: 'include-ignored',
  value: 'optional',
  placeholder: 'GLOB',
  help: 'also apply changes of files that ignore rules match',
  many: true,
};

/** A command, by what {@link CommandShape} has. */
export const command = (
  name: string,
  usage: string,
  help: string,
  options: readonly CommandOption[],
  maxWords: number,
  rest?: true,
): CommandShape => ({ name, usage, help, options, maxWords, ...(rest === undefined ? {} : { rest }) });

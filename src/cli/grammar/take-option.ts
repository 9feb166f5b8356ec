import { usageError } from '../../errors.ts';
import type { CommandOption } from './commands.ts';

/** An option of ours found among the words. */
export interface Taken {
  readonly option: CommandOption;
  readonly value: string | undefined;
  /** Words after its own that belong to it. */
  readonly extraWords: number;
}

/**
 * The option of `known` at `words[index]`, with its value; undefined when the word is none of them. `-h` is help.
 * Throws usageError when a value is missing or not wanted.
 */
export function takeOption(
  words: readonly string[],
  index: number,
  known: ReadonlyMap<string, CommandOption>,
): Taken | undefined {
  const word = words[index] ?? '';
  const [, name = '', joined] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word === '-h' ? '--help' : word) ?? [];
  const option = known.get(name);
  if (option === undefined) return undefined;
  if (option.value === 'none') {
    if (joined !== undefined) throw usageError(`--${name} takes no value`);
    return { option, value: undefined, extraWords: 0 };
  }
  if (joined === '') throw usageError(`--${name}= needs a value after the =`);
  if (joined !== undefined || option.value === 'optional') return { option, value: joined, extraWords: 0 };
  const next = words[index + 1];
  // A negative number is no option: the setting refuses it with what is allowed.
  const isOption = next?.startsWith('-') === true && next !== '-' && !/^-\.?\d/.test(next);
  if (next === undefined || next === '' || isOption)
    throw usageError(`--${name} needs a value`, example(option, next, known));
  return { option, value: next, extraWords: 1 };
}

function example(
  { name, placeholder = 'VALUE' }: CommandOption,
  next: string | undefined,
  known: ReadonlyMap<string, CommandOption>,
): string {
  const isKnown = known.has(/^--([^=]+)/.exec(next ?? '')?.[1] ?? '');
  return next === undefined || next === '' || isKnown
    ? `Write --${name} ${placeholder}.`
    : `Write --${name} ${placeholder}, or --${name}=${next} where the value begins with a dash.`;
}

import type { CommandOption } from './command-shape.ts';
import * as refused from './grammar-errors.ts';

/** An option of run-claude that was found among the words. */
export interface ParsedOption {
  readonly option: CommandOption;
  readonly value: string | undefined;
  /** How many of the words after its own belong to it. */
  readonly extraWords: number;
}

const LETTERS: Readonly<Record<string, string>> = { '-h': '--help', '-V': '--version', '-v': '--version' };

/**
 * The option of `known` at `words[index]`, with its value; undefined when the word is none of them. `-h` is `--help`; `-V` and
 * `-v` are `--version`.
 *
 * @throws {RunClaudeError} USAGE when a value is missing or not wanted
 */
export function takeOption(
  words: readonly string[],
  index: number,
  known: ReadonlyMap<string, CommandOption>,
): ParsedOption | undefined {
  const word = words[index] ?? '';
  const [, name = '', joined] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(LETTERS[word] ?? word) ?? [];
  const option = known.get(name);
  if (option === undefined) return undefined;
  if (option.value === 'none') {
    if (joined !== undefined) throw refused.valueNotWanted(name);
    return { option, value: undefined, extraWords: 0 };
  }
  if (joined === '') throw refused.valueEmpty(name);
  if (joined !== undefined || option.value === 'optional') return { option, value: joined, extraWords: 0 };
  const next = words[index + 1];
  // A negative number is not an option: the setting refuses it and prints what is allowed.
  const isOption = next?.startsWith('-') === true && next !== '-' && !/^-\.?\d/.test(next);
  if (next === undefined || next === '' || isOption)
    throw refused.valueMissing(option, next, known.has(/^--([^=]+)/.exec(next ?? '')?.[1] ?? ''));
  return { option, value: next, extraWords: 1 };
}

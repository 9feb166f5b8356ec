import { oneOf, pattern } from './words.ts';

const RUNS = oneOf`
  executable exe exec execute command commands cmd cmds script scripts hook hooks callback callbacks interpreter program
  shell loader loaders plugin plugins module modules entry entrypoint entrypoints run runs runner runners binary launcher
  handler preload prelude startup bootstrap initializer
`;

/** A word of a key that says that its value is run or loaded. */
export const RUN_WORD: RegExp = pattern('i')`^(?:${RUNS})$`;
/** The same anywhere in a text. */
export const ANY_RUN_WORD: RegExp = pattern('i')`(?:${RUNS})`;

/** The words of the last names of a key: `on_start_callback`, `afterAllFilesWrite`, `hooks.pre[].run`. */
export function wordsOfKey(key: string): string[] {
  const names = key
    .replace(/\[\]/g, '')
    .split(/[.@]/)
    .filter((name) => name !== '')
    .slice(-2);
  return names.flatMap((name) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/));
}

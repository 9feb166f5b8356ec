/**
 * What a place that runs something names: a build, hook, shell, CI, editor or agent file, or a program that one of them
 * runs. Extractors (`extract/`) read names from a text, each for one language; `name-tables.ts` leads them to paths.
 */
export interface Name {
  readonly kind: NameKind;
  readonly text: string;
  /** Folders of the tree that the text may start from, not folded; '' is the top. */
  readonly from: readonly string[];
}

/**
 * - `file`: this path
 * - `module`: a path to which a tool adds an extension, or the entry file of a folder
 * - `folder`: every program in it
 * - `tree`: every program in it, at any depth
 * - `glob`: every file that the pattern matches
 * - `package`: a package of the project by its name, or a path within one
 * - `command`: a command that a package of the project may have
 * - `entry`: a folder whose package an interpreter is given
 * - `crate`: a package of Cargo that is compiled and run while another is built
 */
export type NameKind = 'file' | 'module' | 'folder' | 'tree' | 'glob' | 'package' | 'command' | 'entry' | 'crate';

/** A path from the top of the tree. */
const TOP: readonly string[] = [''];

/** Names of one kind. `from`: default is the top of the tree. */
export const named = (kind: NameKind, texts: Iterable<string>, from: readonly string[] = TOP): Name[] =>
  [...new Set(texts)].filter((text) => text !== '').map((text) => ({ kind, text, from }));

/** A path from a folder of the tree; undefined where it leaves the tree. */
export function placed(dir: string, word: string): string | undefined {
  const stack = dir === '' ? [] : dir.split('/');
  for (const part of word.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') stack.push(part);
    else if (stack.pop() === undefined) return undefined;
  }
  return stack.join('/');
}

/** The first group of each match, without a full stop or colon at its end. */
export const wordsOf = (regex: RegExp, text: string): string[] =>
  [...text.matchAll(regex)].map((match) => (match[1] ?? '').replace(/(?<=[^./:])[./:]+$/, ''));

/** The strings in quotes of a piece of a program. */
export const stringsOf = (piece: string): string[] =>
  [...piece.matchAll(/(["'`])([^"'`\n]{1,300})\1/g)].map((match) => match[2] as string);

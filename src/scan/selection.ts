import ignore from 'ignore';
import { usageError } from '../errors.ts';
import { isEndless } from '../git/ignore-patterns.ts';

/** Which entries of the project are copied to the base, and which as an empty file. Patterns are gitignore's. */
export interface Selection {
  leftOut(path: string, directory: boolean): boolean;
  masked(path: string): boolean;
  /** Whether there is any rule. */
  readonly any: boolean;
  /** Two selections with the same key leave out and mask the same tracked paths; '' where they are none. */
  readonly key: string;
}

export interface SelectionRules {
  readonly exclude: readonly string[];
  readonly include: readonly string[];
  readonly mask: readonly string[];
}

/** The selection of a whole tree. */
export const EVERYTHING: Selection = { any: false, key: '', leftOut: () => false, masked: () => false };

/**
 * Compiles the rules. The user's own --include has the last word, over the project's file too. Letter case does not count,
 * independent of the project's git settings: matching too much is the safe side for rules that keep secrets out of the
 * copy. In an --include it counts, as in git: that names exactly what is not a secret.
 *
 * @throws {RunClaudeError} USAGE for a pattern whose match could take for ever; it may come with the project
 */
export function selectPaths(rules: SelectionRules): Selection {
  const endless = [...rules.exclude, ...rules.include, ...rules.mask].find(isEndless);
  if (endless !== undefined) throw usageError(`'${endless}' has too many **`, 'Write it as several patterns.');
  const included = ignore({ ignorecase: false }).add(rules.include.map((pattern) => `!${pattern}`));
  const out = ignore({ ignorecase: true })
    .add([...rules.exclude])
    .add(included);
  const mask = ignore({ ignorecase: true }).add([...rules.mask]);
  const excludes = rules.exclude.length > 0;
  const masks = rules.mask.length > 0;
  return {
    any: excludes || masks,
    key: excludes || masks ? JSON.stringify([rules.exclude, rules.include, rules.mask]) : '',
    leftOut: (path, directory) => excludes && out.ignores(directory ? `${path}/` : path),
    masked: (path) => masks && mask.ignores(path),
  };
}

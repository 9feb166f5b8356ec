import { IgnorePatterns } from './patterns/ignore-patterns.ts';

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
 */
export function selectPaths(rules: SelectionRules): Selection {
  const out = new IgnorePatterns(
    { lines: rules.exclude, ignoreCase: true },
    { lines: rules.include.map((pattern) => `!${pattern}`), ignoreCase: false },
  );
  const mask = new IgnorePatterns({ lines: rules.mask, ignoreCase: true });
  const excludes = rules.exclude.length > 0;
  const masks = rules.mask.length > 0;
  return {
    any: excludes || masks,
    key: excludes || masks ? JSON.stringify([rules.exclude, rules.include, rules.mask]) : '',
    leftOut: (path, directory) => excludes && out.ignores(path, directory),
    masked: (path) => masks && mask.ignores(path, false),
  };
}

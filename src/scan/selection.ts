import ignore from 'ignore';
import { usageError } from '../errors.ts';
import { isEndless } from '../git/ignore-patterns.ts';

/** What of the project goes into the base, and what only as an empty stand-in. Patterns are gitignore's. */
export interface Selection {
  leftOut(path: string, directory: boolean): boolean;
  masked(path: string): boolean;
  /** Whether any rule is there at all: without, the walk asks nothing. */
  readonly any: boolean;
}

export interface SelectionRules {
  readonly exclude: readonly string[];
  readonly include: readonly string[];
  readonly mask: readonly string[];
}

/** Of a tree that is taken whole. */
export const EVERYTHING: Selection = { any: false, leftOut: () => false, masked: () => false };

/**
 * The rules as questions. The person's own --include has the last word, over the project's file too. Letter case does not
 * count, whatever git says of the project: matching too much is the safe side of what keeps secrets out of the copy. In
 * an --include it counts, as in git: that names what is no secret, and nothing else.
 *
 * @throws RunClaudeError USAGE for a pattern whose match could take for ever; it may come with the project.
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
    leftOut: (path, directory) => excludes && out.ignores(directory ? `${path}/` : path),
    masked: (path) => masks && mask.ignores(path),
  };
}

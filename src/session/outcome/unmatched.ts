import type { Review, ReviewItem } from '../../core/types/review.ts';
import { matcher } from '../../review/choices/build-review.ts';
import type { PathFilter } from '../../review/choices/policy.ts';
import { cleanLine } from '../../terminal/clean.ts';

export interface Selecting {
  readonly filter: PathFilter;
  readonly allowSuspect?: readonly string[];
  readonly release?: boolean | readonly string[];
}

/**
 * A line for each glob of an option that selects changes and selects none: a misspelt one looks like an apply that held
 * everything back. `review` is what is decided about, `withoutRelease` the same without `--include-ignored`. Cleaned.
 */
export function unmatchedLines(
  { filter, allowSuspect = [], release = [] }: Selecting,
  { review, withoutRelease }: { readonly review: Review; readonly withoutRelease: Review },
): string[] {
  const isWithheld = new Set<string>(withheldPaths(withoutRelease));
  const stillWithheld = new Set<string>(withheldPaths(review));
  const any = (): boolean => true;
  const options: readonly [name: string, globs: readonly string[], isSelected: (item: ReviewItem) => boolean][] = [
    ['--only', filter.only, any],
    ['--skip', filter.skip, any],
    ['--allow-suspect', allowSuspect, ({ findings }) => findings.some(({ severity }) => severity === 'suspect')],
    [
      '--include-ignored',
      release === true ? ['*'] : release || [],
      ({ change: { path } }) => isWithheld.has(path) && !stillWithheld.has(path),
    ],
  ];
  return options.flatMap(([name, globs, isSelected]) =>
    globs.flatMap((glob) => {
      const isMatch = matcher([glob]);
      if (review.items.some((item) => isSelected(item) && isMatch(item.change.path))) return [];
      return [
        cleanLine(
          `No pending ${name === '--allow-suspect' ? 'suspect change' : 'change'} matches ${name}${release === true && name === '--include-ignored' ? '' : ` ${glob}`}${whyNot(name, review)}`,
        ),
      ];
    }),
  );
}

function withheldPaths({ items }: Review): string[] {
  return items.filter(({ state }) => state === 'withheld').map(({ change }) => change.path);
}

/** Why --include-ignored selects nothing although something is withheld. */
function whyNot(name: string, { withheld, items }: Review): string {
  const kept = new Set<string>(items.map(({ change }) => change.path));
  const group = withheld.find(({ directory }) => !kept.has(directory));
  if (name !== '--include-ignored' || group === undefined) return '';
  return `: what is in ${group.directory} is not kept with the session; give the option when you start one`;
}

/** More than any path that a project has. */
const MAX_PATTERN_CHARS = 1000;
/** `*`, `**`, `?`, `[…]` and `{…}`. */
const MAX_WILDCARDS = 30;
/** Of one list: each is compared with each path. */
const MAX_PATTERNS = 2000;

/** Why a list of patterns is refused; undefined where it is within the limits. `most`: so many patterns are allowed. */
export function beyondLimits(patterns: readonly string[], most = MAX_PATTERNS): string | undefined {
  if (patterns.length > most) return `${patterns.length} patterns, and at most ${most} are allowed`;
  for (const pattern of patterns) {
    const shown = pattern.length > 40 ? `${pattern.slice(0, 40)}…` : pattern;
    if (pattern.length > MAX_PATTERN_CHARS)
      return `'${shown}' has ${pattern.length} characters, and at most ${MAX_PATTERN_CHARS} are allowed`;
    const wildcards = pattern.match(/\*+|[?[{]/g)?.length ?? 0;
    if (wildcards > MAX_WILDCARDS)
      return `'${shown}' has ${wildcards} wildcards, and at most ${MAX_WILDCARDS} are allowed`;
  }
  return undefined;
}

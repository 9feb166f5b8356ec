import type { Judge } from './rule.ts';

/** For files that a tool runs line by line: each new or deleted line that is not a comment counts. All of a rule's without `paths`. */
export const everyCommand = (...paths: readonly string[]): Judge => ({
  kind: 'lines',
  danger: /^[^#]/,
  removed: /^[^#]/,
  ...(paths.length === 0 ? {} : { paths }),
});

/** For a file that an assistant reads as its instructions, comments included. */
export const EVERY_INSTRUCTION: Judge = { kind: 'lines', danger: /\S/, removed: /\S/ };

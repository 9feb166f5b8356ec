import type { Look } from './rule.ts';

/** For files that a tool runs line by line: each new or deleted line that is not a comment counts. All of a rule's without `files`. */
export const everyCommand = (...files: readonly string[]): Look => ({
  kind: 'lines',
  danger: /^[^#]/,
  removed: /^[^#]/,
  ...(files.length === 0 ? {} : { files }),
});

/** For a file that an assistant reads as its instructions, comments included. */
export const EVERY_INSTRUCTION: Look = { kind: 'lines', danger: /\S/, removed: /\S/ };

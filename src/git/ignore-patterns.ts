/** A pattern with more is taken for an attack. */
const MAX_ANY_FOLDERS = 3;

/** How often a gitignore pattern has any number of folders: matching takes a path's depth to the power of that. */
export function guessesIn(pattern: string): number {
  return pattern.match(/(?:^!?|\/)\*{2,}(?=\/)/g)?.length ?? 0;
}

/** Whether a match of the pattern could take for ever: `a` and `**` in turn, on a path of many folders `a`. */
export function isEndless(pattern: string): boolean {
  return guessesIn(pattern) > MAX_ANY_FOLDERS;
}

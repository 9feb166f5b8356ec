/** Whether a word, or the value of an option, may name a file outside the project. A range such as `a..b` is not a path. */
export function isOutside(word: string): boolean {
  const value = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
  return value.startsWith('/') || value.startsWith('~') || value.split('/').includes('..');
}

/** A word quoted for a POSIX shell and for zsh, which expands a word that begins with `=`. */
export function shellWord(word: string): string {
  return /^(?!=)[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

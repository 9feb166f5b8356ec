/** A text that begins on the next line: no quote, comment or other literal may stand before its mark. */
const OPENS = /^[^#'"`/%?]*<<[-~](["']?)([A-Z_][A-Z0-9_]*)\1/;
/** After one of these the lines of a file are no longer read one by one. */
const NOT_FOLLOWED = /^(=begin|__END__)\b/m;

/**
 * Numbers from 1 of the lines of a Ruby program that are text of a here-document. Empty where a block comment makes
 * that uncertain.
 */
export function heredocLines(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (!text.includes('<<') || NOT_FOLLOWED.test(text)) return found;
  let end: string | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    if (end === undefined) end = OPENS.exec(line.slice(0, 1000))?.[2];
    else if (line.trim() === end) end = undefined;
    else found.add(at + 1);
  }
  return found;
}

/** Whether a line of such a text is prose: code between backquotes is quoted there, a value put into it is not. */
export function isProse(line: string): boolean {
  return /^[\w*-]/.test(line) && !/["';$<>|\\=]|#\{|\w\(/.test(line.replace(/`[^`]{0,200}`/g, ''));
}

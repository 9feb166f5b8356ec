/** The mark of a here-document; no quote, comment or other literal may precede it. */
const OPENS = /^[^#'"`/%?]*<<[-~](["']?)([A-Z_][A-Z0-9_]*)\1/;
/** A block comment or the end of the program: the lines after it cannot be judged one by one. */
const NOT_FOLLOWED = /^(=begin|__END__)\b/m;

/**
 * The line numbers, from 1, of here-documents in a Ruby program. Empty when a block comment makes them uncertain.
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

/** Whether a line of a here-document is prose: quoted code between backquotes is, an interpolated value is not. */
export function isProse(line: string): boolean {
  return /^[\w*-]/.test(line) && !/["';$<>|\\=]|#\{|\w\(/.test(line.replace(/`[^`]{0,200}`/g, ''));
}

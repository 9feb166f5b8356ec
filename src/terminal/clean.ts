/**
 * Code points that act on a terminal or are invisible: controls, format characters (bidi, zero width, tags), what
 * Unicode calls default-ignorable, private use, unassigned, lone surrogates, and line and paragraph separators.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Joiners and selectors that make one picture of several: harmless between and after pictures only. */
const INSIDE_PICTURE =
  /(?<=\p{Extended_Pictographic}\ufe0f?[\u{1f3fb}-\u{1f3ff}]?)(?:\ufe0f|\u200d(?=\p{Extended_Pictographic}))/gu;

/**
 * Text from a session as it may go to a terminal: line feeds and tabs stay, everything else that acts or hides is
 * shown as an escape (`\x1b`, `\u202e`; a byte that is not UTF-8, see text/path.ts, as `\xff`).
 */
export function cleanText(text: string): string {
  return escapeUnsafe(text, (char) => char === '\n' || char === '\t');
}

/** As {@link cleanText} for one line: line feeds and tabs are escaped too. */
export function cleanLine(text: string): string {
  return escapeUnsafe(text, () => false);
}

function escapeUnsafe(text: string, keep: (char: string) => boolean): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  const safeAt = new Set<number>();
  for (const match of text.matchAll(INSIDE_PICTURE)) safeAt.add(match.index);
  return text.replace(UNSAFE, (char: string, at: number) => (keep(char) || safeAt.has(at) ? char : escapeOf(char)));
}

function escapeOf(char: string): string {
  if (char === '\r') return '\\r';
  if (char === '\n') return '\\n';
  if (char === '\t') return '\\t';
  const code = char.codePointAt(0) as number;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

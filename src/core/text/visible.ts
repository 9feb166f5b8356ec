/**
 * Control, format (bidirectional, zero width, tags), private and unassigned characters, line separators, variation
 * selectors and lone surrogates as visible escapes, `\u{202e}`: for text of a session that is shown outside of
 * run-claude's terminal output.
 */
export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/gu,
    (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
}

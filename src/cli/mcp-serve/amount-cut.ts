/** What a client's model reads of one answer. */
export const MAX_ANSWER_CHARACTERS = 30_000;

/** The text with its middle left out, and how much of it, where it is longer than `max` characters. */
export function amountCut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(text.length - half)}`;
}

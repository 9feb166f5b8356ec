/**
 * The work that a structured file may cause, counted in what the file holds: the same bytes get the same verdict on a slow
 * machine. Lock files of large projects stay below a quarter of each limit.
 */
export const MAX_STRUCTURED_CHARS = 4 << 20;
/** Objects and lists inside each other. The parsers call themselves for each of these levels. */
export const MAX_NESTING = 100;
export const MAX_LEAVES = 50_000;
/** Commas and opening brackets of JSON, TOML's lines included: each leaf has one at most. */
export const MAX_MARKS = 100_000;
/** Pieces that YAML is cut into: about eight for each key. */
export const MAX_LEXEMES = 160_000;
/** For each alias the parser searches what was read before it. */
export const MAX_ALIAS_STEPS = 2e7;
export const MAX_DOCUMENTS = 2000;

/** Thrown where a file holds more than the limits allow. */
export class OverBudget extends Error {}

/**
 * Counts the nesting and the marks of JSON, with comments or without, before a parser reads it. Strings and comments end
 * where the parser ends them, so that nothing in them counts.
 *
 * @throws {OverBudget}
 */
export function countJson(text: string): void {
  let [depth, marks] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case SLASH:
        at = endOfComment(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        marks += 1;
        break;
      case COMMA:
        marks += 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
    }
    if (depth > MAX_NESTING || marks > MAX_MARKS) throw new OverBudget();
  }
}

/**
 * Counts the lines, commas and opening brackets of TOML. Its parser counts the nesting itself.
 *
 * @throws {OverBudget}
 */
export function countToml(text: string): void {
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === NEWLINE || char === COMMA || char === OPEN_BRACE || char === OPEN_BRACKET) marks += 1;
    // A dotted key makes a table for each part.
    if (char === DOT && text.charCodeAt(at + 1) !== DOT) marks += 0.25;
    if (marks > MAX_MARKS) throw new OverBudget();
  }
}

const [QUOTE, SLASH, STAR, BACKSLASH, COMMA, DOT, NEWLINE] = [0x22, 0x2f, 0x2a, 0x5c, 0x2c, 0x2e, 0x0a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The position of the last character of a string: its closing quote, or what stands before the end of its line. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at;
    if (char === NEWLINE || char === 0x0d) return at - 1;
    if (char === BACKSLASH) at += 1;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const next = text.charCodeAt(start + 1);
  if (next === STAR) {
    const end = text.indexOf('*/', start + 2);
    return end < 0 ? text.length : end + 1;
  }
  if (next !== SLASH) return start;
  for (let at = start + 2; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === NEWLINE || char === 0x0d) return at;
  }
  return text.length;
}

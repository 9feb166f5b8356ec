/** git's own tables of ASCII (`sane-ctype.h`): the locale decides nothing. */
const CLASSES = new Map<string, RegExp>(
  Object.entries({
    alnum: /^[0-9A-Za-z]$/,
    alpha: /^[A-Za-z]$/,
    blank: /^[ \t]$/,
    cntrl: /^[\0-\x1f\x7f]$/,
    digit: /^[0-9]$/,
    graph: /^[!-~]$/,
    lower: /^[a-z]$/,
    print: /^[ -~]$/,
    punct: /^[!-/:-@[-`{-~]$/,
    space: /^[ \t\n\r]$/,
    upper: /^[A-Z]$/,
    xdigit: /^[0-9A-Fa-f]$/,
  }),
);

type Member = (char: string) => boolean;

/**
 * Reads the bracket expression at a position, as git's `wildmatch.c` does: a `]` that comes first is a member, a backslash
 * makes the next character one, and a range in the wrong order holds its first character only.
 *
 * Returns its members and the position after it; undefined where it has no end or names an unknown class.
 */
export function readClass(
  text: string,
  from: number,
  ignoreCase: boolean,
): { readonly has: Member; readonly end: number } | undefined {
  const isNegative = text[from + 1] === '!' || text[from + 1] === '^';
  const members: Member[] = [];
  let first: string | undefined;
  let at = from + (isNegative ? 2 : 1);
  for (let isFirst = true; isFirst || text[at] !== ']'; isFirst = false) {
    const char = text[at];
    if (char === undefined) return undefined;
    if (char === '-' && first !== undefined && text[at + 1] !== undefined && text[at + 1] !== ']') {
      at += text[at + 1] === '\\' ? 2 : 1;
      const [low, high] = [first, text[at]];
      if (high === undefined) return undefined;
      members.push((one) => one >= low && one <= high);
      first = undefined;
    } else if (char === '[' && text[at + 1] === ':' && !isPlainBracket(text, at)) {
      const end = text.indexOf(']', at + 2);
      const known = end < 0 ? undefined : CLASSES.get(text.slice(at + 2, end - 1));
      if (known === undefined) return undefined;
      members.push((one) => known.test(one));
      at = end;
      first = undefined;
    } else {
      if (char === '\\') at += 1;
      const literal = text[at];
      if (literal === undefined) return undefined;
      members.push((one) => one === literal);
      first = literal;
    }
    at += 1;
  }
  const holds = (char: string): boolean => members.some((one) => one(char));
  const folded = (char: string): boolean => holds(char) || (ignoreCase && holds(char.toUpperCase()));
  return { has: (char) => folded(char) !== isNegative, end: at + 1 };
}

/** Whether no `:]` ends a class that begins here, before a `]` does. */
function isPlainBracket(text: string, at: number): boolean {
  const end = text.indexOf(']', at + 2);
  return end >= 0 && (end - 1 < at + 2 || text[end - 1] !== ':');
}

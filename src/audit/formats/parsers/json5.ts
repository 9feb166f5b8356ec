/** JSON5 as JSON with trailing commas, so that one parser reads both; undefined: it is not JSON5. */
export function jsonOfJson5(text: string): string | undefined {
  let out = '';
  let at = 0;
  while (at < text.length) {
    const token = TOKEN;
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null) return undefined;
    at = token.lastIndex;
    const [, string, mark, word] = match;
    if (string !== undefined) out += JSON.stringify(unescaped(string.slice(1, -1)));
    else if (mark !== undefined) out += mark;
    else if (word !== undefined) {
      IS_KEY.lastIndex = at;
      const value = IS_KEY.test(text) ? JSON.stringify(unescaped(word)) : plainValue(word);
      if (value === undefined) return undefined;
      out += value;
    } else out += ' ';
  }
  return out;
}

/** Blanks and comments, a string, a mark, or a key, number or constant without quotes. */
const TOKEN =
  /[\s\ufeff]+|\/\/[^\r\n\u2028\u2029]*|\/\*[\s\S]*?\*\/|("(?:[^"\\\r\n]|\\[\s\S])*"|'(?:[^'\\\r\n]|\\[\s\S])*')|([{}[\]:,])|([^\s"'{}[\]:,/]+)/y;
const IS_KEY = /(?:[\s\ufeff]|\/\/[^\r\n\u2028\u2029]*(?:[\r\n\u2028\u2029]|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*:/y;

const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' };

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(\r\n|[\r\n\u2028\u2029])|([\s\S]))/gi,
    (_, x, u, end, char) => {
      if (x !== undefined || u !== undefined) return String.fromCharCode(Number.parseInt(x ?? u, 16));
      return end !== undefined ? '' : (SHORT[char] ?? char);
    },
  );
}

/** A value without quotes; a number that JSON cannot write becomes text. */
function plainValue(word: string): string | undefined {
  if (/^(true|false|null)$/.test(word)) return word;
  if (/^[+-]?(Infinity|NaN)$/.test(word)) return JSON.stringify(word);
  const number = /^[+-]?0x[0-9a-f]+$/i.test(word) ? Number(word.replace(/^[+-]/, '')) : Number(word);
  return /^[+-]?[\d.]/.test(word) && Number.isFinite(number) ? String(number) : undefined;
}

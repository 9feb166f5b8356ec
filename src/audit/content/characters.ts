import type { Line } from '../formats/lines.ts';
import { looksLatin } from '../formats/skeleton.ts';
import { isCode, isProse } from '../formats/text-files.ts';
import { anyOf } from '../formats/words.ts';
import type { Found } from '../general-rules/rule.ts';
import type { TextChange } from './text-change.ts';

/** As many characters of a line are searched for a character. */
const MAX_LINE_CHARS = 16_000;
/** As many characters of a line are searched for identifiers. */
const MAX_IDENTIFIER_CHARS = 4000;

const BIDI = /[\u202a-\u202e\u2066-\u2069]/;
const BIDI_OVERRIDE = /[\u202d\u202e]/;
const MARKS = /[\u200e\u200f\u061c]/;
const INVISIBLE = anyOf(
  /[\u200b\u2060-\u2064\u206a-\u206f\u00ad\u180e\u115f\u1160\u3164\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]/u,
  /(?<![\u2801-\u28ff])\u2800(?![\u2801-\u28ff])|\u034f|(?<=[\w.])(?:\u200c|\u200d|\ufeff)(?=[\w.])/u,
);
/** Characters of private use show nothing, or a picture of one font: they do not belong in a word, nor in rows. */
const PRIVATE_USE =
  /[\w.](?:[\ue000-\uf8ff]|[\u{f0000}-\u{10fffd}])|(?:[\ue000-\uf8ff]|[\u{f0000}-\u{10fffd}])(?:[\w.]|(?:[\ue000-\uf8ff]|[\u{f0000}-\u{10fffd}]){3})/u;
/** Marks that look like an operator or separator of ASCII, next to a word or a quote. A fraction of digits is one. */
const ODD_MARKS = anyOf(
  /[\w$)\]'"]\s{0,2}[\u01c0-\u01c3]|[\u01c0-\u01c3]\s?[\w=(]|[\u037e\ua789]/u,
  /(?:[A-Za-z:.)"'\]]|^)[\u2215\u2044\u29f8\u2571]|[\u2215\u2044\u29f8\u2571][A-Za-z.]/u,
  /[\w)"'/]\s?[\uff1b\uff1a\uff1d\uff0e\uff0f\u2236\u2024]/u,
);
const WIDE_SCRIPT = /[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;
const FLAG_EMOJI = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}/gu;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}|[\w\s'"`([]\s?[\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u;
const EMOJI = /\p{Extended_Pictographic}\ufe0f?(\u200d\p{Extended_Pictographic}\ufe0f?)*|[\d#*]\ufe0f\u20e3/gu;
const NOT_ASCII = /[^\u0000-\u007f]/;
const ESCAPES = /[\u0000-\u0007\u0008\u000e-\u001a\u001b-\u001f\u007f\u0080-\u0084\u0086-\u009f]/;
/** Letters in a colour that shows on any background; no background, and nothing that hides text. */
const COLOURS = /\u001b\[(?:(?:0?[0-4]|2[2-4]|3[1-79]|9[1-6])(?:;|(?=m))){0,6}m/g;
const ODD_BREAKS = /\r(?!\n|$)|[\u0085\u2028\u2029\u000b]/;
/** Scripts whose text is written from right to left, and those that join letters with invisible characters. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff]/;
const JOINING_SCRIPTS = /[\u0600-\u06ff\u0900-\u0dff]/;

/** Characters of new lines that show one thing and mean another. ASCII lines, nearly all, cost one test. */
export function richCharacters(change: TextChange): readonly Found[] {
  if (!NOT_ASCII.test(change.text)) return [];
  const rich = change.added.filter((line) => NOT_ASCII.test(line.text));
  if (rich.length === 0) return [];
  const firstOf = (rule: string, test: (text: string) => boolean): Found[] => {
    const line = rich.find(({ text }) => test(text));
    return line === undefined ? [] : [{ rule, line: line.line }];
  };
  return [
    ...bidi(change, rich),
    ...invisible(change, rich),
    ...firstOf('text-tags', (text) => TAGS.test(text.replace(FLAG_EMOJI, ''))),
    ...firstOf('text-selectors', (text) => SELECTORS.test(text.replace(EMOJI, '').slice(0, MAX_LINE_CHARS))),
    ...homoglyph(change.path, rich),
  ];
}

const firstMatch = (lines: readonly Line[], regex: RegExp): Line | undefined =>
  lines.find((line) => regex.test(line.text.slice(0, MAX_LINE_CHARS)));

export function escapes({ path, text, oldText, added }: TextChange): readonly Found[] {
  if (!ESCAPES.test(text)) return [];
  const found = firstMatch(added, ESCAPES);
  if (found === undefined || (oldText !== undefined && ESCAPES.test(oldText))) return [];
  const isPlain = !isCode(path) && added.every((line) => !ESCAPES.test(line.text.replace(COLOURS, '')));
  return [{ case: isPlain ? 'colours' : undefined, line: found.line }];
}

export function oddBreaks({ path, text, oldText }: TextChange): readonly Found[] {
  // Most texts have none of these characters: this test is cheaper than the next.
  if (!/[\r\u0085\u2028\u2029\u000b]/.test(text) || isProse(path)) return [];
  const isNew = ODD_BREAKS.test(text) && !(oldText !== undefined && ODD_BREAKS.test(oldText));
  return isNew ? [{}] : [];
}

function bidi({ path, text }: TextChange, rich: readonly Line[]): Found[] {
  const found = firstMatch(rich, BIDI);
  if (found === undefined) return [];
  const isHarmless = isProse(path) && !BIDI_OVERRIDE.test(found.text) && isBalanced(text);
  return [{ rule: 'text-bidi', case: isHarmless ? 'prose' : undefined, line: found.line }];
}

function isBalanced(text: string): boolean {
  const count = (regex: RegExp): number => text.match(regex)?.length ?? 0;
  return count(/[\u2066-\u2068]/g) === count(/\u2069/g) && count(/[\u202a\u202b]/g) === count(/\u202c/g);
}

function invisible({ path }: TextChange, rich: readonly Line[]): Found[] {
  const rule = 'text-invisible';
  const found: Found[] = [];
  const mark = firstMatch(rich, MARKS);
  if (mark !== undefined && !RIGHT_TO_LEFT.test(mark.text))
    found.push({ rule, detail: describeMatch(MARKS, mark.text), line: mark.line });
  const carrier = firstMatch(rich, PRIVATE_USE);
  if (carrier !== undefined) found.push({ rule, detail: describeMatch(PRIVATE_USE, carrier.text), line: carrier.line });
  const hidden = firstMatch(rich, INVISIBLE);
  if (hidden !== undefined && !JOINING_SCRIPTS.test(hidden.text)) {
    const isSoftHyphen = isProse(path) && /\u00ad/.test(hidden.text);
    const detail = describeMatch(INVISIBLE, hidden.text);
    found.push({ rule, case: isSoftHyphen ? 'prose' : undefined, detail, line: hidden.line });
  }
  return found;
}

function homoglyph(path: string, rich: readonly Line[]): Found[] {
  if (!isCode(path) && !/\.(json|ya?ml|toml|ini|cfg|xml)$/i.test(path)) return [];
  for (const { text, line } of rich) {
    const token = lookAlikeIdentifier(text.slice(0, MAX_IDENTIFIER_CHARS));
    if (token !== undefined) return [{ rule: 'text-homoglyph', detail: token, line }];
    const mark = WIDE_SCRIPT.test(text) ? null : ODD_MARKS.exec(text.slice(0, MAX_IDENTIFIER_CHARS));
    if (mark !== null) return [{ rule: 'text-homoglyph', case: 'mark', detail: mark[0], line }];
  }
  return [];
}

/** A word of Latin letters with a look-alike of another script in it, or one that is another word in NFKC. */
function lookAlikeIdentifier(text: string): string | undefined {
  for (const [token] of text.matchAll(/[\p{L}_$][\p{L}\p{N}\p{Mn}_$]{0,200}/gu)) {
    if (!/[^\u0000-\u024f]/.test(token)) continue;
    const odd = [...token].filter((char) => char > '\u024f' && looksLatin(char));
    if (odd.length > 0 && /[A-Za-z]/.test(token)) return token;
    if (/[\uff21-\uff5a\u{1d400}-\u{1d7ff}\u2100-\u214f]/u.test(token) && token.normalize('NFKC') !== token)
      return token;
  }
  return undefined;
}

const CHARACTER_NAMES: Readonly<Record<string, string>> = {
  '\u00ad': 'soft hyphen',
  '\u034f': 'combining grapheme joiner',
  '\u061c': 'Arabic letter mark',
  '\u115f': 'Hangul filler',
  '\u1160': 'Hangul filler',
  '\u180e': 'Mongolian vowel separator',
  '\u200b': 'zero width space',
  '\u200c': 'zero width non-joiner',
  '\u200d': 'zero width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u2060': 'word joiner',
  '\u3164': 'Hangul filler',
  '\ufeff': 'zero width no-break space',
  '\uffa0': 'Hangul filler',
};

/** The first character of a line that an expression matches, as code point and name. */
function describeMatch(regex: RegExp, line: string): string {
  const [match = ''] = regex.exec(line.slice(0, MAX_LINE_CHARS)) ?? [];
  const char = [...match].find((one) => one > '\u007f') ?? match;
  const point = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = CHARACTER_NAMES[char];
  return name === undefined ? point : `${point}, ${name}`;
}

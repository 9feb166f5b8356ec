import { looksLatin } from '../formats/skeleton.ts';

export const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|:|$)/i;
export const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d/u;
/** An emoji of several parts: only between pictures does the joiner show. */
export const JOINED_EMOJI =
  /\p{Extended_Pictographic}(?:[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d\p{Extended_Pictographic})+/gu;
export const BLANK_ONLY = /^[\s\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\u3164\ufeff.]*$/u;
export const LITTER = /(^\._|^\.([^/]*\.)?sw[a-p]$|~$|^#[^/]*#$|^\.#|\.(orig|rej)$)/;
export const DUMP = /^core(\.\d+)?$/;
export const LONGEST_NAME = 200;
export const SHORT_FORM = /^[^.]{1,8}~[0-9]{1,4}(\.[^.]{0,3})?$/;
/** Short names of Windows for .gitmodules, .gitattributes, .gitignore and .mailmap, as git itself refuses them. */
export const GIT_SHORT_FORM =
  /^(git(mod|att|ign)|mailma)~[1-9]\d{0,2}$|^(gi7e(ba|bb|7d|b4)|gi250a|gi7d29|ma30)[0-9a-f]{0,4}~\d{1,6}$/i;

/** Whether a name has a word with a look-alike of another script, a letter in a display form, or a selector. */
export function passesForLatin(part: string): boolean {
  if (/[\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}]/u.test(part)) return true;
  if (/(?<![\p{Extended_Pictographic}\d#*])[\ufe00-\ufe0f]/u.test(part)) return true;
  const words = part.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.some((word) => /[A-Za-z]/.test(word) && [...word].some((char) => char > '\u024f' && looksLatin(char)));
}

import { visible } from '../../core/text/visible.ts';

const MAX_CHARACTERS = 200;

/**
 * What a forge or a reader's browser would act on: mentions, references to issues (behind which a closing keyword may
 * be), links, HTML and its comments, code spans that would end, and marks that skip CI. A squashed commit takes over the
 * text of a pull request, so a code span alone is not enough.
 */
const ACTIVE = /[@<>`#]|(?<=\bGH)-(?=\d)|:(?=\/\/)|(?<=\bwww)\.|\[(?=[^\]]*\b(?:skip|ci|no)\b)/gi;

/**
 * Text of a session for a pull request, on one line, as a code span: each character that would act is shown as an escape
 * (`\x40` for `@`). Pure.
 */
export function inertText(text: string): string {
  const shown = visible(text).replace(ACTIVE, (char) => `\\x${char.charCodeAt(0).toString(16)}`);
  const cut = shown.length > MAX_CHARACTERS ? `${shown.slice(0, MAX_CHARACTERS)}… (cut)` : shown;
  return `\`${cut}\``;
}

const MARKER = /^(?:<{7}|>{7})(?: |\r?$)/m;
/** In the text of a lock file that is not UTF-8, and in half of a binary one. */
const NOT_TEXT = /[\0\ufffd]/;

/**
 * The text of a lock file.
 *
 * @throws {Error} with the reason for one that no package manager reads: not text, or with conflicts of a merge
 */
export function lockText(content: Buffer): string {
  const text = content.toString('utf8');
  if (NOT_TEXT.test(text)) throw new Error('it is not text in UTF-8');
  if (MARKER.test(text)) throw new Error('it has conflicts of a merge');
  return text;
}

/** @throws {Error} when the lock file names a version of its form that is not one of `known` */
export function refuseVersion(version: unknown, known: readonly number[]): void {
  if (version === undefined) return;
  const major = Math.floor(Number(version));
  if (known.includes(major)) return;
  const shown = Number.isNaN(major) ? '' : ` ${major}`;
  throw new Error(`version${shown} of its form is unknown (known: ${known.join(', ')})`);
}

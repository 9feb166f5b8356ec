import { isSource } from '../formats/text-files.ts';
import type { Found } from '../general-rules/rule.ts';
import type { TextChange } from './text-change.ts';

/** Bytes that are not UTF-8 are decoded to single surrogates of this range (text/path.ts). */
const hasInvalidUtf8 = (text: string): boolean =>
  /[\udc80-\udcff]/.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''));

export function invalidUtf8({ path, text, oldText }: TextChange): readonly Found[] {
  const counts = (): boolean => (oldText === undefined ? isSource(path) : !hasInvalidUtf8(oldText));
  return hasInvalidUtf8(text) && counts() ? [{}] : [];
}

/** The mark was added or removed. */
export const byteOrderMark = ({ text, oldText }: TextChange): readonly Found[] =>
  oldText !== undefined && text.startsWith('\ufeff') !== oldText.startsWith('\ufeff') ? [{}] : [];

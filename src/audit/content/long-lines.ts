import { isCode } from '../formats/text-files.ts';
import type { Found } from '../general-rules/rule.ts';
import { heredocLines, isProse } from './heredocs.ts';
import type { TextChange } from './text-change.ts';

const LONG_LINE_CHARS = 500;
/** A file whose longest line had as many characters before has long lines by its own style. */
const USUAL_LINE_CHARS = 300;
const GENERATED = /(^|\/)(dist|build|vendor|third_party|node_modules|generated|min)\/|\.min\.|\.(lock|ipynb)$/i;

/** Source with a line of which a reviewer sees only the beginning, where the file had no such lines. */
export function longLine({ path, text, oldText, added }: TextChange): readonly Found[] {
  if (!isCode(path) || GENERATED.test(path)) return [];
  const long = added.filter((line) => line.text.length > LONG_LINE_CHARS);
  if (long.length === 0) return [];
  const heredocs = /\.rb$/i.test(path) ? heredocLines(text) : new Set<number>();
  const longest = long.reduce(
    (most, line) => (heredocs.has(line.line) && isProse(line.text) ? most : Math.max(most, line.text.length)),
    0,
  );
  const old =
    oldText === undefined ? 0 : oldText.split('\n', 5000).reduce((most, line) => Math.max(most, line.length), 0);
  if (longest <= LONG_LINE_CHARS || old >= USUAL_LINE_CHARS) return [];
  const detail = `${longest} characters`;
  return [{ case: oldText === undefined ? 'new' : undefined, detail }];
}

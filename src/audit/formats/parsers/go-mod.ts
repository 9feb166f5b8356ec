import { MAX_LEAVES, OverBudget } from '../budget.ts';
import type { Leaf } from '../leaf.ts';

const TOKEN = /\s+|\/\/.*|"((?:[^"\\]|\\.)*)"|`([^`]*)`|=>|[(),]|[^\s()",`]+/y;

/**
 * The directives of a go.mod or go.work, one leaf each: `require` with `name version`, in a block or alone. Undefined where
 * Go would refuse the file.
 *
 * @throws {OverBudget}
 */
export function leavesOfGoMod(text: string): Leaf[] | undefined {
  const out: Leaf[] = [];
  let block: string | undefined;
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const words = wordsOf(line);
    if (words === undefined) return undefined;
    const [verb = '', ...rest] = words;
    if (verb === '') continue;
    if (out.length > MAX_LEAVES) throw new OverBudget();
    if (block !== undefined) {
      if (verb === ')') block = undefined;
      else out.push({ key: block, value: words.join(' ') });
    } else if (rest.length === 1 && rest[0] === '(') block = verb;
    else if (/^[a-z]+$/.test(verb)) out.push({ key: verb, value: rest.join(' ') });
    else return undefined;
  }
  return block === undefined ? out : undefined;
}

function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < line.length) {
    const match = TOKEN.exec(line);
    if (match === null) return undefined;
    const [whole, quoted, raw] = match;
    if (!/^\s|^\/\//.test(whole)) words.push(quoted ?? raw ?? whole);
  }
  return words;
}

import { MAX_LEAVES, OverBudget } from '../budget.ts';
import type { Leaf } from '../leaf.ts';

/** The entries of a `.properties` file of Java: escapes resolved, lines that end in a backslash joined. @throws {OverBudget} */
export function leavesOfProperties(text: string): Leaf[] {
  const out: Leaf[] = [];
  let line = '';
  for (const part of text.split(/\r\n|[\r\n]/)) {
    const rest = part.replace(/^[ \t\f]+/, '');
    if (line === '' && /^[#!]/.test(rest)) continue;
    line += rest;
    const slashes = /(?<!\\)\\*$/.exec(line)?.[0].length ?? 0;
    if (slashes % 2 === 1 && line.length < MAX_LINE) {
      line = line.slice(0, -1);
      continue;
    }
    if (line !== '') out.push(leafOfLine(line));
    if (out.length > MAX_LEAVES) throw new OverBudget();
    line = '';
  }
  if (line !== '') out.push(leafOfLine(line));
  return out;
}

const MAX_LINE = 1 << 20;

function leafOfLine(line: string): Leaf {
  const end = /^(?:\\[\s\S]|[^\\\s=:])*/.exec(line)?.[0].length ?? 0;
  const value = line.slice(end).replace(/^[ \t\f]*[=:]?[ \t\f]*/, '');
  return { key: unescaped(line.slice(0, end)), value: unescaped(value) };
}

const SHORT: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };
const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-f]{4})|([\s\S]))/gi, (_, code?: string, char?: string) =>
    code === undefined ? (SHORT[char ?? ''] ?? char ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );

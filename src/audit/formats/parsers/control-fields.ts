import { MAX_LEAVES, OverBudget } from '../budget.ts';
import type { Leaf } from '../leaf.ts';

/**
 * The fields of a file in the format of Debian's control files, which R uses for DESCRIPTION: `Field: value`, with further
 * lines of the value indented. Undefined for a line that is neither.
 *
 * @throws {OverBudget}
 */
export function leavesOfControlFields(text: string): Leaf[] | undefined {
  const out: { readonly key: string; readonly lines: string[] }[] = [];
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const field = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line);
    const last = out.at(-1);
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (/^[ \t]/.test(line) && last !== undefined) last.lines.push(line.trim());
    else if (field !== null) out.push({ key: field[1] ?? '', lines: [(field[2] ?? '').trim()] });
    else return undefined;
    if (out.length > MAX_LEAVES) throw new OverBudget();
  }
  return out.map(({ key, lines }) => ({ key, value: lines.join('\n').trim() }));
}

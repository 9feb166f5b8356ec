import { widthOf } from '../../terminal/columns/width.ts';
import { wrapWords } from '../../terminal/columns/wrap-words.ts';

const GAP = 2;

/**
 * A page as a terminal shows it: no comments, no pictures, and links as their text. Code stays as it is. Text and tables fit
 * in `columns`; Infinity leaves their lines as they are.
 */
export function plainPage(markdown: string, columns = Number.POSITIVE_INFINITY): string {
  let isCode = false;
  let table: readonly string[] = [];
  const blocks: (readonly string[])[] = [];
  for (const line of markdown.split('\n')) {
    const isFence = /^ *```/.test(line);
    if (isFence) isCode = !isCode;
    const isText = !isCode && !isFence;
    if (isText && line.startsWith('|') && Number.isFinite(columns)) {
      table = [...table, plainLine(line)];
      continue;
    }
    blocks.push(tableLines(table, columns), isText ? textLines(line, columns) : [line]);
    table = [];
  }
  blocks.push(tableLines(table, columns));
  return blocks
    .flat()
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
}

function plainLine(line: string): string {
  return line.replaceAll(/\[([^\]]*)\]\([^)\s]*\)/g, '$1').replaceAll('**', '');
}

/** None for a comment or a picture. Lines after the first begin below the text of the item. */
function textLines(line: string, columns: number): readonly string[] {
  if (/^ *<!-- .* -->$/.test(line) || /^!\[[^\]]*\]\([^)]*\)$/.test(line)) return [];
  const [mark = ''] = /^ *(?:[-*]|\d+\.) +/.exec(line) ?? [];
  return wrapWords(plainLine(line.slice(mark.length)), columns - mark.length).map(
    (one, at) => `${at === 0 ? mark : ' '.repeat(mark.length)}${one}`,
  );
}

/** Columns side by side where they fit. Otherwise each row is its first cell, with the others below it. */
function tableLines(table: readonly string[], columns: number): readonly string[] {
  const [head, , ...rows] = table.map(cellsOf);
  if (head === undefined) return [];
  const all = head.some((cell) => cell !== '') ? [head, ...rows] : rows;
  const widths = head.map((_, at) => all.reduce((most, cells) => Math.max(most, widthOf(cells[at] ?? '')), 0));
  if (widths.reduce((sum, width) => sum + width + GAP, -GAP) <= columns)
    return all.map((cells) =>
      cells
        .map((cell, at) => `${cell}${' '.repeat((widths[at] ?? 0) + GAP - widthOf(cell))}`)
        .join('')
        .trimEnd(),
    );
  return rows.flatMap(([first = '', ...others]) => [
    ...wrapWords(first, columns),
    ...others.flatMap((cell, at) => {
      const name = head[at + 1] ?? '';
      const text = name === '' || cell === '' ? cell : `${name}: ${cell}`;
      return text === '' ? [] : wrapWords(text, columns - GAP).map((one) => `${' '.repeat(GAP)}${one}`);
    }),
  ]);
}

function cellsOf(line: string): readonly string[] {
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

import { createColors } from 'picocolors';
import type { ReviewItem } from '../../../core/types/review.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { expandTabs, widthOf, wrap } from '../../../terminal/columns/width.ts';
import type { DiffLine, FileDiff } from '../../choices/file-diff.ts';
import { type Colours, type MarkedLine, markWords } from '../words.ts';
import { diffLines, headerLines, type ViewOptions } from './diff-view.ts';

/** In a narrower window the unified form is shown instead. */
const MIN_COLUMNS = 60;

/**
 * One change with the old lines on the left and the new ones on the right; long lines are wrapped, never cut. A difftool
 * shows two columns as well, but opens the bytes of a session as they are: this view is cleaned, and needs no program.
 */
export function sideBySideLines(item: ReviewItem, diff: FileDiff, options: ViewOptions): string[] {
  if (diff.kind !== 'text' || options.columns < MIN_COLUMNS) return diffLines(item, diff, options);
  const colours = createColors(options.colour);
  const half = Math.floor((options.columns - 3) / 2);
  const out = headerLines(item, colours, options.columns);
  for (const hunk of diff.hunks) {
    out.push(colours.cyan(`@@ line ${hunk.oldStart + 1} | line ${hunk.newStart + 1} @@`));
    const marks = options.colour ? markedLines(hunk.lines) : new Map<DiffLine, MarkedLine>();
    for (const [left, right] of pairLines(hunk.lines)) {
      const [a, b] = [cell(left, half), cell(right, half)];
      for (let row = 0; row < Math.max(a.length, b.length); row++) {
        const [one, two] = [a[row] ?? '', b[row] ?? ''];
        const padding = ' '.repeat(Math.max(0, half - widthOf(one)));
        const [old, fresh] = [painted(one, marks.get(left as DiffLine)), painted(two, marks.get(right as DiffLine))];
        const same = left === right;
        const text = same
          ? `${one}${padding}   ${two}`
          : `${colours.red(old(colours))}${padding} | ${colours.green(fresh(colours))}`;
        out.push(text.trimEnd());
      }
    }
  }
  return out;
}

/** Removed lines next to the lines added in their place; an unchanged line next to itself. */
function pairLines(lines: readonly DiffLine[]): [DiffLine | undefined, DiffLine | undefined][] {
  const out: [DiffLine | undefined, DiffLine | undefined][] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as DiffLine;
    if (line.op === ' ') {
      out.push([line, line]);
      at += 1;
      continue;
    }
    const end = lines.findIndex((other, index) => index > at && other.op === ' ');
    const group = lines.slice(at, end < 0 ? lines.length : end);
    const [removed, added] = [group.filter(({ op }) => op === '-'), group.filter(({ op }) => op === '+')];
    for (let row = 0; row < Math.max(removed.length, added.length); row++) out.push([removed[row], added[row]]);
    at += group.length;
  }
  return out;
}

function markedLines(lines: readonly DiffLine[]): Map<DiffLine, MarkedLine> {
  const marked = new Map<DiffLine, MarkedLine>();
  for (const [at, mark] of markWords(lines)) marked.set(lines[at] as DiffLine, mark);
  return marked;
}

/** Words are marked only where neither cleaning nor wrapping changed the line. */
function painted(text: string, mark: MarkedLine | undefined): (colours: Colours) => string {
  return mark?.plain === text ? mark.painted : () => text;
}

function cell(line: DiffLine | undefined, columns: number): string[] {
  if (line === undefined) return [''];
  const text = line.text.replace(/\n$/, '').split('\t').map(cleanLine).join('\t');
  return wrap(expandTabs(text), columns);
}

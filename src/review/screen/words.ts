import { diffWordsWithSpace } from 'diff';
import type { createColors } from 'picocolors';
import type { DiffLine } from '../choices/file-diff.ts';

export type Colours = ReturnType<typeof createColors>;

export interface MarkedLine {
  readonly plain: string;
  readonly painted: (colours: Colours) => string;
}

const MAX_MARKED_CHARS = 2_000;

/**
 * Which words differ, for a removed line that has a line added in its place: position in `lines` → marked line.
 * Lines of other groups, long ones and quite different ones stay unmarked.
 */
export function markWords(lines: readonly DiffLine[]): ReadonlyMap<number, MarkedLine> {
  const marked = new Map<number, MarkedLine>();
  for (let at = 0; at < lines.length; ) {
    const removed = run(lines, at, '-');
    const added = run(lines, at + removed, '+');
    if (removed > 0 && removed === added) {
      for (let i = 0; i < removed; i++) markPair(marked, lines, at + i, at + removed + i);
    }
    at += Math.max(1, removed + added);
  }
  return marked;
}

function run(lines: readonly DiffLine[], from: number, op: string): number {
  let count = 0;
  while (lines[from + count]?.op === op) count += 1;
  return count;
}

function markPair(marked: Map<number, MarkedLine>, lines: readonly DiffLine[], removed: number, added: number): void {
  const [a, b] = [lineText(lines[removed]), lineText(lines[added])];
  if (a.length > MAX_MARKED_CHARS || b.length > MAX_MARKED_CHARS) return;
  const parts = diffWordsWithSpace(a, b, { timeout: 50 });
  const common = parts?.reduce((sum, part) => sum + (part.added || part.removed ? 0 : part.value.length), 0) ?? 0;
  if (parts === undefined || common * 3 < Math.max(a.length, b.length)) return;
  const side = (skip: 'added' | 'removed', own: 'added' | 'removed', plain: string): MarkedLine => ({
    plain,
    painted: (colours) =>
      parts.flatMap((part) => (part[skip] ? [] : [part[own] ? colours.inverse(part.value) : part.value])).join(''),
  });
  marked.set(removed, side('added', 'removed', a));
  marked.set(added, side('removed', 'added', b));
}

function lineText(line: DiffLine | undefined): string {
  return line?.text.replace(/\n$/, '') ?? '';
}

import { encodeBytes } from '../../core/text/path.ts';
import type { DiffLine, Hunk } from './file-diff.ts';
import { splitLines } from './file-diff.ts';

/**
 * The file with only some hunks taken: `before` with each chosen hunk's lines in place of those it replaces.
 * Hunks are in order and do not overlap.
 */
export function applyHunks(before: readonly string[], chosen: readonly Hunk[]): Buffer {
  const out: string[] = [];
  let at = 0;
  for (const hunk of chosen) {
    for (const line of before.slice(at, hunk.oldStart)) out.push(line);
    for (const line of hunk.lines) if (line.op !== '-') out.push(line.text);
    at = hunk.oldStart + oldCount(hunk.lines);
  }
  for (const line of before.slice(at)) out.push(line);
  return encodeBytes(out.join(''));
}

/** Lines of the old file that a hunk stands for. */
function oldCount(lines: readonly DiffLine[]): number {
  return lines.filter((line) => line.op !== '+').length;
}

/** Lines of the new file that a hunk gives. */
function newCount(lines: readonly DiffLine[]): number {
  return lines.filter((line) => line.op !== '-').length;
}

/** '@@ -1,3 +1,4 @@': lines are counted from 1; an empty range names the line before it. */
export function hunkHead({ oldStart, newStart, lines }: Hunk): string {
  const range = (start: number, count: number): string => `${count === 0 ? start : start + 1},${count}`;
  return `@@ -${range(oldStart, oldCount(lines))} +${range(newStart, newCount(lines))} @@`;
}

/** A hunk cut at its unchanged lines; a hunk with one group of changes comes back alone. */
export function splitHunk(hunk: Hunk): Hunk[] {
  const parts: Hunk[] = [];
  let current: DiffLine[] = [];
  let [oldStart, newStart] = [hunk.oldStart, hunk.newStart];
  let changed = false;
  const close = (): void => {
    parts.push({ oldStart, newStart, lines: current });
    oldStart += oldCount(current);
    newStart += newCount(current);
    current = [];
    changed = false;
  };
  const lastChanged = hunk.lines.findLastIndex((line) => line.op !== ' ');
  hunk.lines.forEach((line, at) => {
    if (line.op === ' ' && changed && at < lastChanged) close();
    changed ||= line.op !== ' ';
    current.push(line);
  });
  if (current.length > 0) parts.push({ oldStart, newStart, lines: current });
  return parts;
}

/** The lines of a hunk as in a patch: one line each, its sign first. */
export function hunkText(hunk: Hunk): string {
  return hunk.lines
    .map((line) => `${line.op}${line.text.endsWith('\n') ? line.text : `${line.text}\n${NO_NEWLINE}\n`}`)
    .join('');
}

const NO_NEWLINE = '\\ No newline at end of file';

/**
 * A hunk from edited text: '#' lines are comments; '+' lines may be changed freely, and a '-' line kept by making it
 * ' '; lines of the old file must all still be there, in order. Returns the reason as a string when they are not.
 */
export function parseEditedHunk(hunk: Hunk, text: string): Hunk | string {
  const lines: DiffLine[] = [];
  for (const raw of splitLines(text)) {
    if (raw.startsWith('#')) continue;
    if (raw.startsWith('\\')) {
      const last = lines.pop();
      if (last) lines.push({ op: last.op, text: last.text.replace(/\n$/, '') });
      continue;
    }
    const op = raw === '\n' ? ' ' : raw[0];
    if (op !== ' ' && op !== '-' && op !== '+') return `a line begins with neither ' ', '-' nor '+': ${raw.trimEnd()}`;
    lines.push({ op, text: raw === '\n' ? '\n' : raw.slice(1) });
  }
  const old = (list: readonly DiffLine[]): string =>
    list.flatMap((line) => (line.op === '+' ? [] : [line.text])).join('');
  if (old(lines) !== old(hunk.lines)) return 'the unchanged and removed lines are not those of the file';
  return { ...hunk, lines };
}

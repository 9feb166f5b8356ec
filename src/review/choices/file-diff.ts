import { diffArrays } from 'diff';
import { decodeBytes } from '../../core/text/path.ts';
import type { Change } from '../../core/types/entry.ts';

/** One line of a diff; `text` keeps its line ending. */
export interface DiffLine {
  readonly op: ' ' | '-' | '+';
  readonly text: string;
}

/** Lines are counted from 0. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly DiffLine[];
}

export type FileDiff =
  /** Nothing but mode, kind or time: folders, mode changes, empty files. */
  | { readonly kind: 'none' }
  | { readonly kind: 'link'; readonly before: string | undefined; readonly after: string | undefined }
  | {
      readonly kind: 'text';
      readonly before: readonly string[];
      readonly hunks: readonly Hunk[];
      /** Too different to be compared line by line in time: everything is shown as removed and added. */
      readonly coarse: boolean;
      /** Line endings differ between the sides: 'LF to CRLF'. */
      readonly endings: string | undefined;
    }
  /** By sizes in bytes, and how the new content begins. */
  | {
      readonly kind: 'binary';
      readonly before: number | undefined;
      readonly after: number | undefined;
      readonly head: Buffer | undefined;
    };

const CONTEXT = 3;
const BUDGET_MS = 1_500;
/** Above this a file is shown as binary, by sizes: nobody reads it line by line. */
export const TEXT_LIMIT = 20 * 1024 * 1024;
const HEAD_BYTES = 256;

/** As {@link fileDiff} where a side is too large to be read whole; `head` gives how the new content begins. */
export function largeDiff({ before, after }: Change, head: () => Buffer | undefined): FileDiff | undefined {
  const size = (entry: Change['before']): number | undefined => (entry?.kind === 'file' ? entry.size : undefined);
  if (Math.max(size(before) ?? 0, size(after) ?? 0) <= TEXT_LIMIT) return undefined;
  return { kind: 'binary', before: size(before), after: size(after), head: head()?.subarray(0, HEAD_BYTES) };
}

/** What differs in content. `before` and `after` are the frozen bytes of files, undefined where there is none. */
export function fileDiff(change: Change, before: Buffer | undefined, after: Buffer | undefined): FileDiff {
  if (change.before?.kind === 'symlink' || change.after?.kind === 'symlink') {
    const target = (entry: Change['before']): string | undefined =>
      entry?.kind === 'symlink' ? entry.target : undefined;
    if (before === undefined && after === undefined) {
      return { kind: 'link', before: target(change.before), after: target(change.after) };
    }
  }
  if ((before?.length ?? 0) === 0 && (after?.length ?? 0) === 0) return { kind: 'none' };
  if (isBinary(before) || isBinary(after)) {
    return { kind: 'binary', before: before?.length, after: after?.length, head: after?.subarray(0, HEAD_BYTES) };
  }
  return textDiff(before ?? Buffer.alloc(0), after ?? Buffer.alloc(0));
}

/** Line by line, within a time budget. Bytes that are no UTF-8 stay apart (text/path.ts). */
export function textDiff(before: Buffer, after: Buffer): FileDiff {
  const [a, b] = [splitLines(decodeBytes(before)), splitLines(decodeBytes(after))];
  const parts = diffArrays(a, b, { timeout: BUDGET_MS });
  const lines: DiffLine[] = [];
  for (const part of parts ?? [
    { value: a, removed: true },
    { value: b, added: true },
  ]) {
    const op = part.added ? '+' : part.removed ? '-' : ' ';
    for (const text of part.value) lines.push({ op, text });
  }
  return {
    kind: 'text',
    before: a,
    hunks: groupHunks(lines),
    coarse: parts === undefined,
    endings: endingChange(a, b),
  };
}

/** Each with its ending; the last may have none. */
export function splitLines(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function groupHunks(lines: readonly DiffLine[]): Hunk[] {
  const changed = lines.flatMap((line, at) => (line.op === ' ' ? [] : [at]));
  const ranges: { from: number; to: number }[] = [];
  for (const at of changed) {
    const last = ranges.at(-1);
    if (last && at - last.to <= 2 * CONTEXT + 1) last.to = at;
    else ranges.push({ from: at, to: at });
  }
  const hunks: Hunk[] = [];
  let [oldLine, newLine, at] = [0, 0, 0];
  for (const range of ranges) {
    const from = Math.max(0, range.from - CONTEXT);
    for (; at < from; at++) {
      oldLine += lines[at]?.op === '+' ? 0 : 1;
      newLine += lines[at]?.op === '-' ? 0 : 1;
    }
    hunks.push({ oldStart: oldLine, newStart: newLine, lines: lines.slice(from, range.to + CONTEXT + 1) });
  }
  return hunks;
}

function endingChange(before: readonly string[], after: readonly string[]): string | undefined {
  if (before.length === 0 || after.length === 0) return undefined;
  const [a, b] = [endingsOf(before), endingsOf(after)];
  return a === b || a === undefined || b === undefined ? undefined : `${a} to ${b}`;
}

function endingsOf(lines: readonly string[]): 'LF' | 'CRLF' | 'mixed' | undefined {
  let [lf, crlf] = [0, 0];
  for (const line of lines) {
    if (line.endsWith('\r\n')) crlf += 1;
    else if (line.endsWith('\n')) lf += 1;
  }
  if (lf + crlf === 0) return undefined;
  return crlf === 0 ? 'LF' : lf === 0 ? 'CRLF' : 'mixed';
}

/**
 * Whether content is better not shown as lines: very large, or with NULs and mostly not printable. One NUL in a script
 * does not hide it: the shell runs such a file too.
 */
export function isBinary(content: Buffer | undefined): boolean {
  if (content === undefined) return false;
  if (content.length > TEXT_LIMIT) return true;
  const head = content.subarray(0, 8192);
  if (!content.includes(0)) return false;
  let printable = 0;
  for (const byte of head)
    if ((byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13) printable += 1;
  return printable < head.length * 0.7;
}

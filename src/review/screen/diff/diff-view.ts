import { createColors } from 'picocolors';
import type { Change, Entry } from '../../../core/types/entry.ts';
import type { ReviewItem } from '../../../core/types/review.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { expandTabs, widthOf, wrap } from '../../../terminal/columns/width.ts';
import { wrapWords } from '../../../terminal/columns/wrap-words.ts';
import { amount } from '../../../terminal/progress.ts';
import type { FileDiff, Hunk } from '../../choices/file-diff.ts';
import { hunkHead } from '../../choices/hunks.ts';
import { tellsProblem } from '../summary.ts';
import { type Colours, markWords } from '../words.ts';

export interface ViewOptions {
  readonly colour: boolean;
  readonly columns: number;
}

/** One change as lines for the screen: header, reasons, mode, then its hunks. Everything of the session is cleaned. */
export function diffLines(item: ReviewItem, diff: FileDiff, options: ViewOptions): string[] {
  const colours = createColors(options.colour);
  const header = headerLines(item, colours, options.columns);
  switch (diff.kind) {
    case 'none':
      return header;
    case 'link':
      return [
        ...header,
        ...(diff.before === undefined ? [] : [colours.red(`- link to ${cleanLine(diff.before)}`)]),
        ...(diff.after === undefined ? [] : [colours.green(`+ link to ${cleanLine(diff.after)}`)]),
      ];
    case 'binary':
      return [...header, ...binaryLines(diff, item.state === 'suspect' || item.state === 'blocked', colours)];
    case 'text': {
      const notes = [
        ...(diff.coarse ? ['too different to compare line by line: shown as removed and added'] : []),
        ...(diff.endings === undefined ? [] : [`line endings change: ${diff.endings}`]),
      ];
      const hunks = diff.hunks.flatMap((hunk) => hunkLines(hunk, options));
      return [...header, ...notes.map((note) => colours.yellow(note)), ...hunks];
    }
  }
}

/** Columns by which the further lines of a reason are indented. */
const HANG = 2;

/** Name, kind, mode and reasons of a change; reasons are wrapped to `columns`. */
export function headerLines(item: ReviewItem, colours: Colours, columns: number): string[] {
  const { change } = item;
  const { before = item.renamedEntry, after } = change;
  const lines = nameLines(item).map((line) => colours.bold(line));
  const mode = modeLine(before, after);
  if (mode !== undefined) lines.push(colours.cyan(mode));
  if (change.problem !== undefined && !item.findings.some(tellsProblem)) {
    lines.push(colours.red(`BLOCKED: ${cleanLine(change.problem)}`));
  }
  for (const finding of item.findings) {
    const where = finding.line === undefined ? '' : ` (line ${finding.line})`;
    const text = `${finding.severity.toUpperCase()}: ${cleanLine(finding.title)}${where}: ${cleanLine(finding.why)}`;
    const paint =
      finding.severity === 'blocked' ? colours.red : finding.severity === 'suspect' ? colours.yellow : colours.dim;
    const hanging = wrapWords(text, columns - HANG).map((line, at) => (at === 0 ? line : `${' '.repeat(HANG)}${line}`));
    for (const line of hanging) lines.push(paint(line));
    if (finding.detail !== undefined) lines.push(paint(`  ${cleanLine(finding.detail)}`));
  }
  return lines;
}

/** A rename of the same content is one line; one with edits has git's own three lines. */
function nameLines({ change, renamedFrom, similarity = 100 }: ReviewItem): string[] {
  const [name, note] = [cleanLine(change.path), kindNote(change)];
  if (renamedFrom === undefined) return [`${KINDS[change.kind]} ${name}${note}`];
  const old = cleanLine(renamedFrom);
  if (similarity === 100) return [`renamed ${old} → ${name}${note}`];
  return [`renamed ${name}${note}`, `similarity index ${similarity}%`, `rename from ${old}`, `rename to ${name}`];
}

const KINDS = { created: 'new', modified: 'modified', deleted: 'deleted', mode: 'mode', type: 'kind' } as const;

function kindNote(change: Change): string {
  if (change.kind === 'type') return `: ${change.before?.kind ?? 'nothing'} becomes ${change.after?.kind ?? 'nothing'}`;
  const kind = (change.after ?? change.before)?.kind;
  return kind === 'dir' ? '/' : kind === 'file' || kind === undefined ? '' : ` (${kind})`;
}

/** 'mode 644 → 755', 'mode 755' for a new program, or nothing worth a line. */
function modeLine(before: Entry | undefined, after: Entry | undefined): string | undefined {
  if (after === undefined || after.kind === 'symlink') return undefined;
  const octal = (entry: Entry): string => (entry.mode & 0o7777).toString(8);
  if (before === undefined) return after.kind === 'file' && after.mode & 0o7111 ? `mode ${octal(after)}` : undefined;
  if (before.kind !== after.kind || (before.mode & 0o7777) === (after.mode & 0o7777)) return undefined;
  return `mode ${octal(before)} → ${octal(after)}`;
}

/** A hunk with a sign before each line. Long lines are wrapped with a mark, never cut; blank runs keep their length. */
export function hunkLines(hunk: Hunk, options: ViewOptions): string[] {
  const colours = createColors(options.colour);
  const out = [colours.cyan(hunkHead(hunk))];
  const marks = options.colour ? markWords(hunk.lines) : undefined;
  hunk.lines.forEach((line, at) => {
    const paint = line.op === '+' ? colours.green : line.op === '-' ? colours.red : (text: string) => text;
    const ended = line.text.endsWith('\n');
    const text = expandTabs(showBlankEnd(cleanKeepingTabs(ended ? line.text.slice(0, -1) : line.text), line.op));
    const room = Math.max(10, options.columns - 2);
    if (widthOf(text) <= room) {
      const marked = marks?.get(at);
      // Word marks fit only where cleaning changed nothing.
      out.push(
        marked !== undefined && marked.plain === text
          ? paint(`${line.op}${marked.painted(colours)}`)
          : paint(`${line.op}${text}`),
      );
    } else {
      const pieces = wrap(text, room);
      for (const [index, piece] of pieces.entries()) out.push(paint(`${index === 0 ? line.op : '↪'}${piece}`));
    }
    if (!ended) out.push(colours.dim('\\ no newline at the end of the file'));
  });
  return out;
}

function cleanKeepingTabs(text: string): string {
  return text.split('\t').map(cleanLine).join('\t');
}

/** Blanks at the end of an added line are seen as dots. */
function showBlankEnd(text: string, op: string): string {
  return op === '+' ? text.replace(/[ \t]+$/, (blanks) => '·'.repeat(blanks.length)) : text;
}

function binaryLines(diff: Extract<FileDiff, { kind: 'binary' }>, head: boolean, colours: Colours): string[] {
  const size = (bytes: number | undefined): string => (bytes === undefined ? 'nothing' : amount(bytes, 'bytes'));
  const lines = [`binary: ${size(diff.before)} → ${size(diff.after)}`];
  if (head && diff.head !== undefined) {
    for (let at = 0; at < diff.head.length; at += 16) {
      const row = diff.head.subarray(at, at + 16);
      const text = row.toString('latin1').replace(/[^\x20-\x7e]/g, '.');
      lines.push(colours.dim(`${at.toString(16).padStart(6, '0')}  ${row.toString('hex').padEnd(32)}  ${text}`));
    }
  }
  return lines;
}

import { type Line, splitLines } from '../formats/lines.ts';
import { isCode } from '../formats/text-files.ts';
import { oneOf, pattern } from '../formats/words.ts';
import type { Found } from '../general-rules/rule.ts';
import type { TextChange } from './text-change.ts';

/** White space by Unicode, and characters that show as blanks. */
const BLANK = /[\s\u0085\u180e\u200b\u2800\u3164\uffa0]/u;
const BLANKS = /[\s\u0085\u180e\u200b\u2800\u3164\uffa0]+/gu;
/** Columns that one run of blanks takes at least to count, and all of a line together to hide what follows. */
const LONG_RUN_COLUMNS = 40;
const HIDDEN_COLUMNS = 80;
/** Code is rarely indented this far. */
const HIDDEN_INDENT_COLUMNS = 160;
const TAB_COLUMNS = 8;
/** Of a longer line only its beginning is measured. */
const MAX_LINE_CHARS = 100_000;
const EMPTY_LINES = 100;
const FILLER_LINES = 200;
/** So many lines after a filler are searched for one that runs something. */
const LINES_AFTER_FILLER = 40;

/** Languages in which `#` begins a comment, and in which `//` does. */
const HASH_COMMENTS =
  /\.(py|pyw|pyi|pyx|rb|sh|bash|zsh|fish|ksh|pl|pm|r|jl|mk|cmake|ex|exs|nim|cr|tcl|awk|ps1|coffee)$|(^|\/)[^./]*$/i;
const SLASH_COMMENTS =
  /\.(js|cjs|mjs|jsx|ts|cts|mts|tsx|c|h|cc|cpp|hpp|cs|java|kt|kts|scala|go|rs|swift|m|mm|php|dart|groovy|gradle|zig|d|sol|proto|vue|svelte)$/i;

/** Code of a program that a reader does not see, since it is far to the right. */
export function hiddenRight({ path, text, added }: TextChange): readonly Found[] {
  if (!isCode(path) || added.length === 0) return [];
  // Most texts have no such run, also in several blanks that each take more than a column.
  if (!hasRunOfBlanks(text)) return [];
  const lines = splitLines(text);
  for (const { line } of added) {
    const raw = (lines[line - 1] ?? '').slice(0, MAX_LINE_CHARS);
    if (raw.length < 20) continue;
    const hidden = hiddenAfter(raw, path);
    if (hidden !== undefined) return [{ detail: hidden.trim().slice(0, 120), line }];
  }
  return [];
}

const LONG_RUN_CHARS = 10;
const RUN = /[^\S\n]{10}|[\u2800\u3164\uffa0\u200b]{10}/u;

/** Whether {@link RUN} matches: of each run of that length, one in ten characters is looked at. */
function hasRunOfBlanks(text: string): boolean {
  for (let at = LONG_RUN_CHARS - 1; at < text.length; at += LONG_RUN_CHARS) {
    const code = text.charCodeAt(at);
    if (code > 0x20 && code < 0x7f) continue;
    if (RUN.test(text.slice(at - LONG_RUN_CHARS + 1, at + LONG_RUN_CHARS))) return true;
  }
  return false;
}

/** What a line hides behind blanks; undefined where it hides nothing. */
function hiddenAfter(line: string, path: string): string | undefined {
  let columns = 0;
  for (const { 0: run, index } of line.matchAll(BLANKS)) {
    const width = widthOf(run);
    const rest = line.slice(index + run.length);
    if (rest === '') return undefined;
    if (index === 0) {
      if (width >= HIDDEN_INDENT_COLUMNS && !isHarmless('', rest, path)) return rest;
      continue;
    }
    if (width < LONG_RUN_COLUMNS) continue;
    columns += width;
    if (columns >= HIDDEN_COLUMNS && !isHarmless(line.slice(0, index), rest, path)) return rest;
  }
  return undefined;
}

function widthOf(blanks: string): number {
  let columns = 0;
  for (const char of blanks)
    columns += char === '\t' || char === '\f' || char === '\v' ? TAB_COLUMNS : char === '\u3000' ? 2 : 1;
  return columns;
}

/** Whether what follows a run of blanks is not code: a frame, a comment to the end of its line, or text in quotes. */
function isHarmless(before: string, rest: string, path: string): boolean {
  if (!/[\p{L}\p{N}]/u.test(rest)) return true;
  const lead = before.trim();
  const marks = HASH_COMMENTS.test(path) ? /^#/ : SLASH_COMMENTS.test(path) ? /^\/\// : /^(#|\/\/|--|;|%)/;
  if (marks.test(lead) || marks.test(rest)) return true;
  if (/^\/\*(?!.*\*\/\s*\S)/.test(rest) && !HASH_COMMENTS.test(path)) return true;
  if (/^(\*\s|\|)/.test(lead) && !/[;(]/.test(rest)) return true;
  return ['"', "'", '`'].some((quote) => countOf(before, quote) % 2 === 1);
}

const countOf = (text: string, char: string): number => text.replaceAll(`\\${char}`, '').split(char).length - 1;

const COMMENT = /^(#|\/\/|--|;|%|\*|\/\*|rem\b|'|")/i;
/** A line of a table: it ends in a comma and calls nothing. */
const DATA = /^[^()=;]{0,400},$/;
const RUNNERS = oneOf`
  os\.(system|popen|exec\w*|spawn\w*) subprocess eval exec\w* popen system spawn\w* child_process __import__ importlib urlopen fetch
  curl wget touch chmod nc bash sh python3? node Function
`;
const RUNS = pattern()`\b(${RUNNERS})\s*[('"\x60.\s]`;

/** Code of a program that a reader does not see, since it is far below. */
export function hiddenBelow({ path, text, oldText, added }: TextChange): readonly Found[] {
  if (!isCode(path) || added.length === 0) return [];
  const lines = splitLines(text);
  if (lines.length < EMPTY_LINES) return [];
  const isNew = new Set(added.map(({ line }) => line));
  const empty = /(?:\n[^\S\n]*){100}/;
  if (
    empty.test(text.replaceAll('\r\n', '\n')) &&
    (oldText === undefined || !empty.test(oldText.replaceAll('\r\n', '\n')))
  ) {
    const found = afterRun(lines, (line) => isBlank(line), EMPTY_LINES, isNew);
    if (found !== undefined) return [{ detail: found.text.trim().slice(0, 120), line: found.line }];
  }
  if (added.length < FILLER_LINES) return [];
  const isFiller = (line: string): boolean => {
    const trimmed = line.trim();
    return trimmed === '' || COMMENT.test(trimmed) || DATA.test(trimmed);
  };
  const end = afterRun(lines, isFiller, FILLER_LINES, isNew);
  if (end === undefined) return [];
  const after = lines.slice(end.line - 1, end.line - 1 + LINES_AFTER_FILLER);
  const at = after.findIndex((line) => !isFiller(line) && !/^\s/.test(line) && RUNS.test(line.slice(0, 1000)));
  return at < 0 ? [] : [{ case: 'filler', detail: (after[at] ?? '').slice(0, 120), line: end.line + at }];
}

const isBlank = (line: string): boolean => [...line].every((char) => BLANK.test(char));

/** The first new line after a long run. */
function afterRun(
  lines: readonly string[],
  fits: (line: string) => boolean,
  long: number,
  isNew: ReadonlySet<number>,
): Line | undefined {
  let run = 0;
  for (const [at, text] of lines.entries()) {
    if (fits(text)) run += 1;
    else if (run >= long && isNew.has(at + 1)) return { line: at + 1, text };
    else run = 0;
  }
  return undefined;
}

import { lazy } from '../formats/lazy.ts';
import { type Line, splitLines } from '../formats/lines.ts';
import { prefilterOf } from '../formats/prefilter.ts';
import { mayHoldSecret, SECRET_MARKS, secretIn, secretsByOthers } from '../formats/secrets.ts';
import { usualSpellingOf } from '../formats/usual-spelling.ts';
import { SECRET } from '../general-rules/content.ts';
import { type Hit, hitOf } from '../hit.ts';
import { signalLooks, signalsFor } from './signal-rules.ts';
import type { TextChange } from './text-change.ts';

/** Of a longer line only as many characters at each end are searched. */
const MAX_END_CHARS = 4000;
const MAX_SHOWN_CHARS = 120;

/** Of the signals, then of the marks of secrets: each text is searched once. */
const mayMatch = lazy(() => prefilterOf([...signalLooks().map(({ danger }) => danger), ...SECRET_MARKS]));

/** What new lines give away by themselves: one finding for each signal, and one for each line with a secret. */
export function newLineHits(change: TextChange): Hit[] {
  const { path, text, added } = change;
  const texts = added.map(({ text }) =>
    text.length > 2 * MAX_END_CHARS ? `${text.slice(0, MAX_END_CHARS)} ${text.slice(-MAX_END_CHARS)}` : text,
  );
  // Two searches through all lines say which signals need a search line by line: nearly always none.
  const lines = [...added, ...otherReadings(change)];
  for (const line of lines.slice(added.length)) texts.push(line.text.slice(0, 2 * MAX_END_CHARS));
  const all = texts.join('\n');
  const signals = signalLooks();
  const isFor = lazy(() => signalsFor(path));
  const examples = fencedLines(path, text);
  const candidates = mayMatch().candidates(all);
  const hits: Hit[] = [];
  for (const [at, kind] of secretsOf(texts.slice(0, added.length), path, candidates.subarray(signals.length)))
    hits.push(hitOf(SECRET, path, { detail: kind, line: added[at]?.line }));
  for (const [number, { rule, danger, harmless, inCode, counted, anywhere }] of signals.entries()) {
    if (candidates[number] === 0 || !isFor().has(number) || !anywhere.test(all)) continue;
    const found = lines.filter(({ line }, at) => {
      const text = texts[at] ?? '';
      if (inCode === true && examples.has(line)) return false;
      if (counted?.test(text) === true && !hasMore(counted, change)) return false;
      return danger.test(text) && harmless?.test(text) !== true;
    });
    const [first] = found;
    if (first === undefined) continue;
    const more = found.length - 1;
    const rest = more > 0 ? `, and ${more} more ${more === 1 ? 'line' : 'lines'}` : '';
    const { id, severity, title = '', why } = rule;
    const detail = first.text.slice(0, MAX_SHOWN_CHARS) + rest;
    hits.push({ rule: id, severity, path, title, why, detail, line: first.line });
  }
  return hits;
}

/** Whether a text has more lines of a form than before. */
function hasMore(form: RegExp, { text, oldText = '' }: TextChange): boolean {
  const count = (lines: readonly string[]): number => lines.filter((line) => form.test(line)).length;
  return count(splitLines(text)) > count(splitLines(oldText));
}

/** New lines as a tool reads them: joined where a backslash ends one, and a structured text in its usual spelling. */
function otherReadings({ path, text, oldText, added }: TextChange): Line[] {
  const usual = usualSpellingOf(path, { before: oldText, after: text });
  if (typeof usual === 'object') return [...usual.added()];
  return /\\\r?\n/.test(text) ? joinedLines(text, added) : [];
}

/** The statements that continue over several lines and have a new one, each as one line: a long one in pieces that overlap. */
function joinedLines(text: string, added: readonly Line[]): Line[] {
  const lines = splitLines(text);
  const out: Line[] = [];
  let next = 0;
  for (let from = 0; from < lines.length; from += 1) {
    let to = from;
    while (to + 1 < lines.length && goesOn(lines[to] as string)) to += 1;
    if (to === from) continue;
    for (const pieces of windowsOf(piecesOf(lines, from, to))) {
      while (next < added.length && (added[next] as Line).line < (pieces[0]?.line ?? 0)) next += 1;
      const line = added[next]?.line;
      if (line === undefined) return out;
      if (line <= (pieces.at(-1)?.line ?? 0)) out.push({ line, text: pieces.map((one) => one.text).join('') });
    }
    from = to;
  }
  return out;
}

/** Whether a backslash that is not escaped ends the line; blanks after it are overlooked. */
function goesOn(line: string): boolean {
  if (!line.includes('\\')) return false;
  const end = line.slice(-MAX_END_CHARS).trimEnd();
  let first = end.length;
  while (end[first - 1] === '\\') first -= 1;
  return (end.length - first) % 2 === 1;
}

const PIECE_CHARS = MAX_END_CHARS / 2;

/** The lines of a statement without their backslashes; a long one in several pieces. */
function piecesOf(lines: readonly string[], from: number, to: number): Line[] {
  const pieces: Line[] = [];
  for (let at = from; at <= to; at += 1) {
    const text = (lines[at] as string).trim().replace(/\\$/, '');
    for (let start = 0; start === 0 || start < text.length; start += PIECE_CHARS)
      pieces.push({ line: at + 1, text: text.slice(start, start + PIECE_CHARS) });
  }
  return pieces;
}

/** As many pieces as have room in a line that is searched whole. Each list begins in the middle of the one before. */
function* windowsOf(pieces: readonly Line[]): Generator<readonly Line[]> {
  const sizeOf = (at: number): number => pieces[at]?.text.length ?? 0;
  let [first, end, length] = [0, 0, 0];
  while (end < pieces.length) {
    while (end < pieces.length && length + sizeOf(end) <= 2 * MAX_END_CHARS) {
      length += sizeOf(end);
      end += 1;
    }
    yield pieces.slice(first, end);
    while (length > MAX_END_CHARS) {
      length -= sizeOf(first);
      first += 1;
    }
  }
}

/** The lines of examples in a page of MDX, which are shown and never run; its other lines are a program. */
function fencedLines(path: string, text: string): ReadonlySet<number> {
  const found = new Set<number>();
  if (!/\.mdx$/i.test(path)) return found;
  let fence: string | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const mark = /^\s{0,12}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined;
    else found.add(at + 1);
  }
  // A fence without an end is not one.
  return fence === undefined ? found : new Set();
}

/** The kind of secret in each line that has one, by the line's index. */
function secretsOf(texts: readonly string[], path: string, candidates: Uint8Array): ReadonlyMap<number, string> {
  const mayHold = mayHoldSecret(texts.join('\n'), candidates);
  const byOthers = secretsByOthers(texts, path);
  if (!mayHold) return byOthers;
  const found = new Map<number, string>();
  for (const [at, text] of texts.entries()) {
    const kind = secretIn(text, path) ?? byOthers.get(at);
    if (kind !== undefined) found.set(at, kind);
  }
  return found;
}

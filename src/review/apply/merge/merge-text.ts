import { diffArrays } from 'diff';
import { diff3Merge } from 'node-diff3';
import { decodeBytes, encodeBytes } from '../../../core/text/path.ts';

export type TextMerge =
  | { readonly kind: 'clean'; readonly content: Buffer }
  /** `content` has the conflicts between marker lines, of `markerLength` characters each. */
  | { readonly kind: 'conflict'; readonly content: Buffer; readonly markerLength: number }
  /** Binary, or too large to be merged line by line. */
  | { readonly kind: 'impossible'; readonly why: string };

/** Limit for the lines between the common start and end. */
const MAX_LINES = 20_000;
/** For comparing one side with the base. If the time runs out, all lines of that side count as new. */
const COMPARE_TIMEOUT_MS = 1_500;

/**
 * Three-way merge by lines, in this process. Line endings are merged separately, so that a file whose line endings were
 * converted on one side can still be merged. Pure.
 */
export function mergeText(base: Buffer, host: Buffer, session: Buffer): TextMerge {
  if ([base, host, session].some(isBinary)) {
    return { kind: 'impossible', why: 'binary, changed on both sides' };
  }
  const texts = { base: decodeBytes(base), host: decodeBytes(host), session: decodeBytes(session) };
  const ending = mergedEnding(texts);
  const lines = (text: string): string[] => {
    const normal = ending === undefined ? text : text.replaceAll('\r\n', '\n');
    return normal === '' ? [] : normal.split(/(?<=\n)/);
  };
  const [o, a, b] = [lines(texts.base), lines(texts.host), lines(texts.session)];
  const { head, tail } = commonEnds(o, a, b);
  const middle = (list: string[]): string[] => list.slice(head, list.length - tail);
  if (Math.max(middle(o).length, middle(a).length, middle(b).length) > MAX_LINES) {
    return { kind: 'impossible', why: 'too large to merge, changed on both sides' };
  }
  const out: string[] = a.slice(0, head);
  const markers = markersFor(Object.values(texts));
  let conflict = false;
  const old = middle(o);
  const [hosts, olds, sessions] = [middle(a), old, middle(b)].map((list) => namesOf(old, list)) as [
    Names,
    Names,
    Names,
  ];
  for (const region of diff3Merge(hosts, olds, sessions, { excludeFalseConflicts: true }) as Region[]) {
    if (region.ok !== undefined) for (const text of textsOf(old, region.ok)) out.push(text);
    else if (region.conflict !== undefined) {
      conflict = true;
      const [mine, theirs] = [textsOf(old, region.conflict.a), textsOf(old, region.conflict.b)];
      const ours = [`${markers.open} host\n`, ...closed(mine)];
      const both = [...ours, `${markers.middle}\n`, ...closed(theirs), `${markers.close} session\n`];
      for (const line of both) out.push(line);
    }
  }
  for (const text of a.slice(a.length - tail)) out.push(text);
  const text = ending === '\r\n' ? out.join('').replaceAll('\n', '\r\n') : out.join('');
  const content = encodeBytes(text);
  return conflict ? { kind: 'conflict', content, markerLength: markers.middle.length } : { kind: 'clean', content };
}

/** One control character in so many bytes is text; more is not. */
const TEXT_BYTES_PER_CONTROL = 50;

/** A NUL, or more control characters than text has: lines and markers would damage it. */
function isBinary(content: Buffer): boolean {
  if (content.includes(0)) return true;
  let controls = 0;
  // Tab to carriage return, and escape, are in text too.
  for (const byte of content) if ((byte < 32 && (byte < 9 || byte > 13) && byte !== 27) || byte === 127) controls += 1;
  return controls * TEXT_BYTES_PER_CONTROL > content.length;
}

type Names = string[];

/**
 * Unique names for lines: `=N` for line N of the base, `+TEXT` for a line that the base lacks. With unique names the
 * merge takes little time. With the texts, thousands of identical lines would take the cube of their number.
 */
function namesOf(base: string[], list: string[]): Names {
  const names: string[] = [];
  let at = 0;
  for (const part of diffArrays(base, list, { timeout: COMPARE_TIMEOUT_MS }) ?? [
    { value: list, added: true, removed: false },
  ]) {
    if (part.removed) at += part.value.length;
    else for (const text of part.value) names.push(part.added ? `+${text}` : `=${at++}`);
  }
  return names;
}

const textsOf = (base: readonly string[], names: readonly string[]): string[] =>
  names.map((name) => (name.startsWith('+') ? name.slice(1) : (base[Number(name.slice(1))] as string)));

interface Region {
  readonly ok?: readonly string[];
  readonly conflict?: { readonly a: readonly string[]; readonly b: readonly string[] };
}

/** The lines with an ending at the last one, so that the marker after it gets a separate line. */
function closed(lines: readonly string[]): readonly string[] {
  const last = lines.at(-1);
  return last === undefined || last.endsWith('\n') ? lines : [...lines.slice(0, -1), `${last}\n`];
}

/** git's length, used unless a line of the file looks like a marker. */
export const USUAL_MARKER_LENGTH = 7;

/** Markers longer than any run of these characters in the texts, so that content cannot look like a marker. */
function markersFor(texts: readonly string[]): { open: string; middle: string; close: string } {
  let longest = USUAL_MARKER_LENGTH - 1;
  for (const text of texts) {
    for (const [run] of text.matchAll(/^(<+|=+|>+)/gm)) longest = Math.max(longest, run.length);
  }
  const length = longest + 1;
  return { open: '<'.repeat(length), middle: '='.repeat(length), close: '>'.repeat(length) };
}

/** The line ending of the result. Undefined if a side has mixed endings: then lines are compared with their endings. */
function mergedEnding(texts: { base: string; host: string; session: string }): '\n' | '\r\n' | undefined {
  const [base, host, session] = [endingOf(texts.base), endingOf(texts.host), endingOf(texts.session)];
  if (base === undefined || host === undefined || session === undefined) return undefined;
  return host === base ? session : host;
}

function endingOf(text: string): '\n' | '\r\n' | undefined {
  const crlf = text.split('\r\n').length - 1;
  const all = text.split('\n').length - 1;
  if (crlf === 0) return '\n';
  return crlf === all ? '\r\n' : undefined;
}

/** Numbers of lines that all three texts share at the start and at the end. */
function commonEnds(o: string[], a: string[], b: string[]): { head: number; tail: number } {
  const shortest = Math.min(o.length, a.length, b.length);
  let head = 0;
  while (head < shortest && o[head] === a[head] && o[head] === b[head]) head += 1;
  let tail = 0;
  const same = (at: number): boolean => o.at(-at) === a.at(-at) && o.at(-at) === b.at(-at);
  while (tail < shortest - head && same(tail + 1)) tail += 1;
  return { head, tail };
}

import { Automaton, FOLDERS } from '../../core/text/patterns/automaton.ts';
import { globItems } from '../../core/text/patterns/glob.ts';
import { lazy } from './lazy.ts';

/**
 * Matches a glob of the audit: `*` within a component, `**` over components, `?`, `{a,b}`. A glob without '/' matches the
 * last component at any depth; one with '/' matches the end of the path, any depth; one that begins with '/' the whole path.
 * Both are in lower case.
 */
function compileGlob(glob: string): (path: string) => boolean {
  if (glob === '*') return () => true;
  const isRooted = glob.startsWith('/');
  const items = globItems(isRooted ? glob.slice(1) : glob);
  if (isRooted || /\*\*|\{/.test(glob)) {
    const whole = new Automaton(isRooted ? items : [FOLDERS, ...items]);
    // Most paths lack a component that every match has.
    const needed = glob.includes('{') ? [] : glob.split('/').filter((part) => !/[*?]/.test(part));
    return (path) => needed.every((part) => path.includes(part)) && whole.matches(path);
  }
  // It can only match so many components, at the end: the folders above them are not read.
  const count = glob.split('/').length;
  if (!/[*?]/.test(glob)) return (path) => lastComponents(path, count) === glob;
  if (count === 1 && !glob.includes('?')) return namesWith(glob.split('*'));
  const automaton = new Automaton(items);
  return (path) => automaton.matches(lastComponents(path, count));
}

/** Whether the last component of a path has these texts in their order, and begins and ends with the first and the last. */
function namesWith(texts: readonly string[]): (path: string) => boolean {
  const [first, last] = [texts[0] as string, texts.at(-1) as string];
  const between = texts.slice(1, -1).filter((text) => text !== '');
  const least = first.length + last.length;
  return (path) => {
    const start = path.lastIndexOf('/') + 1;
    const end = path.length - last.length;
    if (path.length - start < least || !path.startsWith(first, start) || !path.endsWith(last)) return false;
    let at = start + first.length;
    for (const text of between) {
      const found = path.indexOf(text, at);
      if (found < 0 || found + text.length > end) return false;
      at = found + text.length;
    }
    return true;
  };
}

function lastComponents(path: string, count: number): string {
  let at = path.length;
  for (let left = count; left > 0 && at >= 0; left -= 1) at = at === 0 ? -1 : path.lastIndexOf('/', at - 1);
  return path.slice(at + 1);
}

/** `a{b,c}d` as `abd` and `acd`, nested ones too. For run-claude's own globs: n braces are up to 2^n globs. */
export function expandBraces(glob: string): string[] {
  const open = glob.lastIndexOf('{');
  const close = glob.indexOf('}', open);
  if (open < 0 || close < 0) return [glob];
  const head = glob.slice(0, open);
  const tail = glob.slice(close + 1);
  const words = glob.slice(open + 1, close).split(',');
  return words.flatMap((word) => expandBraces(head + word + tail));
}

/** Globs are indexed by so many first letters of their last component. */
const HEAD = 4;

/** The index key of a glob: the last component or its beginning, another component, or an extension. */
function keyOf(glob: string): string {
  const parts = glob.toLowerCase().split('/');
  const last = parts.at(-1) as string;
  if (!/[*?]/.test(last)) return `name ${last}`;
  const head = /^[^*?]*/.exec(last)?.[0] ?? '';
  if (head.length >= HEAD) return `head ${head.slice(0, HEAD)}`;
  const literal = parts.find((part) => part !== '' && !/[*?]/.test(part));
  if (literal !== undefined) return `part ${literal}`;
  const extension = /\.([^.*?]+)$/.exec(last)?.[1];
  return extension === undefined ? 'any' : `end ${extension}`;
}

/**
 * Matches a path against many lists of run-claude's own globs at once: gives the numbers of the lists that have a match. A
 * path costs a few look-ups, however many globs there are.
 */
export function indexGlobs(lists: readonly (readonly string[])[]): (path: string) => ReadonlySet<number> {
  // Globs are compiled at their first use: most never are.
  const byKey = new Map<
    string,
    { readonly glob: string; matches?: (path: string) => boolean; readonly list: number }[]
  >();
  for (const [list, globs] of lists.entries()) {
    for (const glob of globs.flatMap(expandBraces)) {
      const key = keyOf(glob);
      const found = byKey.get(key) ?? [];
      found.push({ glob: glob.toLowerCase(), list });
      byKey.set(key, found);
    }
  }
  return (anyCase) => {
    const path = anyCase.toLowerCase();
    const parts = path.split('/');
    const last = parts.at(-1) as string;
    const keys = [
      'any',
      `name ${last}`,
      `head ${last.slice(0, HEAD)}`,
      `end ${last.slice(last.lastIndexOf('.') + 1)}`,
      ...new Set(parts.map((part) => `part ${part}`)),
    ];
    const matched = new Set<number>();
    for (const key of keys)
      for (const one of byKey.get(key) ?? []) {
        if (matched.has(one.list)) continue;
        one.matches ??= compileGlob(one.glob);
        if (one.matches(path)) matched.add(one.list);
      }
    return matched;
  };
}

/** The globs of a list that name files, and those that leave some of them out: these begin with `!`. */
export function splitGlobs(globs: readonly string[]): { readonly named: string[]; readonly excepted: string[] } {
  const excepted = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  return { named: globs.filter((glob) => !glob.startsWith('!')), excepted };
}

/** The lists that a path is named in, and those of them that do not leave it out. By number. */
export interface FittingLists {
  readonly named: ReadonlySet<number>;
  readonly fitting: ReadonlySet<number>;
}

/** A list as parts, each with all globs after it that leave files out: a path fits the list if it fits one of them. */
function partsOf(globs: readonly string[]): ReturnType<typeof splitGlobs>[] {
  const starts = globs.flatMap((glob, at) =>
    !glob.startsWith('!') && (globs[at - 1] ?? '!').startsWith('!') ? [at] : [],
  );
  return starts.map((start, at) => {
    const { named } = splitGlobs(globs.slice(start, starts[at + 1]));
    return { named, excepted: splitGlobs(globs.slice(start)).excepted };
  });
}

/** As {@link indexGlobs}, of lists in which a glob that begins with `!` leaves files out that globs before it name. */
export function indexFiles(lists: readonly (readonly string[])[]): (path: string) => FittingLists {
  const parts = lists.flatMap((globs, list) => partsOf(globs).map((part) => ({ ...part, list })));
  const naming = indexGlobs(parts.map(({ named }) => named));
  const excepting = indexGlobs(parts.map(({ excepted }) => excepted));
  return (path) => {
    const named = new Set<number>();
    const fitting = new Set<number>();
    let excepted: ReadonlySet<number> | undefined;
    for (const part of naming(path)) {
      const list = parts[part]?.list as number;
      excepted ??= excepting(path);
      named.add(list);
      if (!excepted.has(part)) fitting.add(list);
    }
    return { named, fitting };
  };
}

/**
 * Matches a path against the globs that a user or a project wrote: one that begins with `!` leaves files out that globs
 * before it name. Their braces are not expanded.
 */
export function userGlobs(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs.map((glob) => ({
    isException: glob.startsWith('!'),
    matches: compileGlob(glob.replace(/^!/, '').toLowerCase()),
  }));
  return (path) => {
    const lower = path.toLowerCase();
    return matchers.findLast(({ matches }) => matches(lower))?.isException === false;
  };
}

/** Matches a path against one list of run-claude's own globs, which are read at the first path. */
export function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const index = lazy(() => indexFiles([globs]));
  return (path) => index()(path).fitting.size > 0;
}

/**
 * A path as the least strict file system would compare it: characters that HFS+ ignores dropped, NFC, case folded as
 * APFS does (the long s is an s, a ligature its letters), and of each name what NTFS keeps (no stream, no blanks or
 * dots at its end). Takes and gives a lossless path string.
 */
export function foldPath(path: string): string {
  const folded = /[^\u0000-\u007f]/.test(path)
    ? path
        .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff\u00ad]/g, '')
        .normalize('NFC')
        .toUpperCase()
    : path;
  const lower = folded.toLowerCase();
  if (!/:|[ .](?:\/|$)/.test(lower)) return lower;
  return lower
    .split('/')
    .map((name) => name.replace(/:.*/s, '').replace(/(?<![ .])[ .]+$/, '') || name)
    .join('/');
}

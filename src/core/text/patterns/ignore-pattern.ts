import { Automaton, FOLDERS, type Item } from './automaton.ts';
import { readClass } from './bracket.ts';

/** A line of a file in gitignore's language. */
export interface IgnorePattern {
  /** Whether the line begins with `!`: what it matches is not ignored. */
  readonly isNegative: boolean;
  /** Whether it is for directories only. */
  readonly isForDirectories: boolean;
  /** The name, where the line matches this name at any depth and nothing else. */
  readonly literalName?: string;
  /** Whether it matches a path from the folder of the file; `name` is the path's last component. */
  matches(path: string, name: string): boolean;
}

const SPECIAL = /[*?[\\]/;

/**
 * Reads a line as git does (gitignore(5), and `dir.c` and `wildmatch.c` of git). Undefined for a comment, an empty line and
 * a pattern that can match nothing. With `ignoreCase`, patterns and paths are compared in lower case.
 */
export function parseIgnoreLine(line: string, ignoreCase: boolean): IgnorePattern | undefined {
  if (line.startsWith('#')) return undefined;
  const isNegative = line.startsWith('!');
  const whole = trimBlanks(isNegative ? line.slice(1) : line);
  const isForDirectories = whole.endsWith('/');
  const pattern = isForDirectories ? whole.slice(0, -1) : whole;
  if (pattern === '') return undefined;
  const isForNames = !pattern.includes('/');
  const matches = isForNames ? nameMatcher(pattern, ignoreCase) : pathMatcher(pattern.replace(/^\//, ''), ignoreCase);
  if (matches === undefined) return undefined;
  const isLiteral = isForNames && !SPECIAL.test(pattern);
  return {
    isNegative,
    isForDirectories,
    ...(isLiteral ? { literalName: fold(pattern, ignoreCase) } : {}),
    matches: (path, name) => matches(fold(isForNames ? name : path, ignoreCase)),
  };
}

/** Blanks at the end do not count, unless a backslash is before the first of them. */
function trimBlanks(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  if (end === line.length) return line;
  let slashes = 0;
  while (line[end - slashes - 1] === '\\') slashes += 1;
  return line.slice(0, slashes % 2 === 1 ? end + 1 : end);
}

type Matcher = (text: string) => boolean;

function nameMatcher(pattern: string, ignoreCase: boolean): Matcher | undefined {
  const rest = fold(pattern.slice(1), ignoreCase);
  if (pattern.startsWith('*') && !SPECIAL.test(rest)) return (name) => name.endsWith(rest);
  return afterLiteral(pattern, ignoreCase, (text) => itemsOf(text, { ignoreCase, isForNames: true }));
}

function pathMatcher(pattern: string, ignoreCase: boolean): Matcher | undefined {
  return afterLiteral(pattern, ignoreCase, (text) => itemsOf(text, { ignoreCase, isForNames: false }));
}

/** Compares what a pattern begins with first, as git does: most paths need no more. What follows is a pattern by itself. */
function afterLiteral(
  pattern: string,
  ignoreCase: boolean,
  read: (rest: string) => readonly Item[] | undefined,
): Matcher | undefined {
  const at = pattern.search(SPECIAL);
  const literal = fold(at < 0 ? pattern : pattern.slice(0, at), ignoreCase);
  if (at < 0) return (text) => text === literal;
  const items = read(pattern.slice(at));
  if (items === undefined) return undefined;
  let automaton: Automaton | undefined;
  return (text) => {
    if (!text.startsWith(literal)) return false;
    automaton ??= new Automaton(items);
    return automaton.matches(text.slice(literal.length));
  };
}

/** The items of a pattern; undefined where git takes it for one that matches nothing. */
function itemsOf(
  text: string,
  { ignoreCase, isForNames }: { readonly ignoreCase: boolean; readonly isForNames: boolean },
): readonly Item[] | undefined {
  const items: Item[] = [];
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string;
    if (char === '*') {
      const from = at;
      while (text[at] === '*') at += 1;
      const isWhole = from === 0 || text[from - 1] === '/';
      const isBeforeSlash = text[at] === '/' || text.startsWith('\\/', at);
      if (isForNames || at - from < 2 || !isWhole || !(at === text.length || isBeforeSlash))
        items.push({ kind: 'some' });
      else if (text[at] === '/') {
        items.push(FOLDERS);
        at += 1;
      } else items.push({ kind: 'all' });
    } else if (char === '?') {
      items.push({ kind: 'one' });
      at += 1;
    } else if (char === '[') {
      const found = readClass(text, at, ignoreCase);
      if (found === undefined) return undefined;
      items.push({ kind: 'class', has: found.has });
      at = found.end;
    } else {
      const literal = char === '\\' ? text[at + 1] : char;
      if (literal === undefined) return undefined;
      items.push({ kind: 'char', char: fold(literal, ignoreCase) });
      at += char === '\\' ? 2 : 1;
    }
  }
  return items;
}

function fold(text: string, ignoreCase: boolean): string {
  return ignoreCase ? text.toLowerCase() : text;
}

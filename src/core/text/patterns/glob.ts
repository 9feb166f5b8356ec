import { Automaton, FOLDERS, type Item } from './automaton.ts';

/** Whether a whole relative path matches: `*`, `**`, `?` and `{a,b}`. A pattern without a `/` is for names at any depth. */
export function globMatcher(pattern: string): (name: string) => boolean {
  const whole = pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`;
  const automaton = new Automaton(globItems(whole));
  return (name) => automaton.matches(name);
}

/** The items of a glob for whole paths. Braces are ways of the pattern, never written out: `{a,b}` n times would be 2^n. */
export function globItems(pattern: string): readonly Item[] {
  return parse(pattern, { at: 0 }, false)[0] ?? [];
}

/** The ways of a pattern, or of a brace in it up to its end. A brace that is not closed ends with the pattern. */
function parse(text: string, reader: { at: number }, isInBraces: boolean): Item[][] {
  let items: Item[] = [];
  const ways = [items];
  while (reader.at < text.length) {
    const { at } = reader;
    const char = text[at] ?? '';
    const isFolders = text.startsWith('**/', at);
    const isAll = text.startsWith('**', at);
    reader.at += isFolders ? 3 : isAll ? 2 : 1;
    if (isFolders) items.push(FOLDERS);
    else if (isAll) items.push({ kind: 'all' });
    else if (char === '*') items.push({ kind: 'some' });
    else if (char === '?') items.push({ kind: 'one' });
    else if (char === '{') items.push({ kind: 'either', ways: parse(text, reader, true) });
    else if (char === '}' && isInBraces) return ways;
    else if (char === ',' && isInBraces) {
      items = [];
      ways.push(items);
    } else items.push({ kind: 'char', char });
  }
  return ways;
}

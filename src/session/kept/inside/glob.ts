// Patterns come from a client and names from the agent: an expression that tries again and again could take for ever. This
// one reads each name once, with all places of the pattern at which it can be, so its time is bounded by their lengths.

type Item =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'one' | 'some' | 'all' | 'dirs' }
  | { readonly kind: 'either'; readonly ways: readonly (readonly Item[])[] };

/** A place in the pattern: it takes a character and goes on, or stands for several others. */
type Place =
  | { readonly takes: (char: string) => boolean; readonly next: number }
  | { readonly either: readonly number[] };

const END = 0;

/** Whether a whole relative path matches: `*`, `**`, `?` and `{a,b}`. A pattern without a `/` is for names at any depth. */
export function globMatcher(pattern: string): (name: string) => boolean {
  const whole = pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`;
  const places: Place[] = [{ either: [] }];
  const start = build(parse(whole, { at: 0 }, false)[0] ?? [], END, places);
  return (name) => {
    let current = reached([start], places);
    for (let at = 0; at < name.length && current.size > 0; at++) {
      const next: number[] = [];
      for (const index of current) {
        const place = places[index];
        if (place !== undefined && 'takes' in place && place.takes(name[at] ?? '')) next.push(place.next);
      }
      current = reached(next, places);
    }
    return current.has(END);
  };
}

/** The ways of a pattern, or of a brace in it up to its end. A brace that is not closed ends with the pattern. */
function parse(text: string, reader: { at: number }, isInBraces: boolean): Item[][] {
  let items: Item[] = [];
  const ways = [items];
  while (reader.at < text.length) {
    const { at } = reader;
    const char = text[at] ?? '';
    const kind = text.startsWith('**/', at) ? 'dirs' : text.startsWith('**', at) ? 'all' : undefined;
    reader.at += kind === 'dirs' ? 3 : kind === 'all' ? 2 : 1;
    if (kind !== undefined) items.push({ kind });
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

const inName = (char: string): boolean => char !== '/';

/** Adds the places of these items, which go on at `end`. Returns the first one. */
function build(items: readonly Item[], end: number, places: Place[]): number {
  const add = (place: Place): number => places.push(place) - 1;
  const repeated = (takes: (char: string) => boolean, next: number): number => {
    const loop = add({ either: [next, places.length + 1] });
    add({ takes, next: loop });
    return loop;
  };
  let next = end;
  for (const item of items.toReversed()) {
    if (item.kind === 'char') next = add({ takes: (char) => char === item.char, next });
    else if (item.kind === 'one') next = add({ takes: inName, next });
    else if (item.kind === 'some') next = repeated(inName, next);
    else if (item.kind === 'all') next = repeated(() => true, next);
    else if (item.kind === 'either') {
      const after = next;
      next = add({ either: item.ways.map((way) => build(way, after, places)) });
    } else {
      const loop = places.length;
      places.push({ either: [next, loop + 1] });
      places.push({ takes: inName, next: loop + 2 });
      places.push({ either: [loop + 1, loop + 3] });
      places.push({ takes: (char) => char === '/', next: loop });
      next = loop;
    }
  }
  return next;
}

/** The places that stand for these, and they themselves. */
function reached(from: readonly number[], places: readonly Place[]): Set<number> {
  const found = new Set<number>();
  const open = [...from];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (found.has(index)) continue;
    found.add(index);
    const place = places[index];
    if (place !== undefined && 'either' in place) for (const other of place.either) open.push(other);
  }
  return found;
}

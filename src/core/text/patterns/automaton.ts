// Patterns come from a project, a client or an agent, and names from an agent: an expression that tries one way after the
// other could take for ever. An automaton reads each name once, with all places of the pattern at which it can be.

/** A piece of a pattern: one character, one of a class, one of a name (`?`), some of a name (`*`), or anything (`**`). */
export type Item =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'class'; readonly has: (char: string) => boolean }
  | { readonly kind: 'one' }
  | { readonly kind: 'some' }
  | { readonly kind: 'all' }
  | { readonly kind: 'either'; readonly ways: readonly (readonly Item[])[] };

/** Any number of folders, each with its `/`. */
export const FOLDERS: Item = { kind: 'either', ways: [[], [{ kind: 'all' }, { kind: 'char', char: '/' }]] };

/** A place in the pattern: it takes a character and goes on, or leads to several others. */
type Place =
  | { readonly takes: (char: string) => boolean; readonly next: number }
  | { readonly either: readonly number[] };

/** The places that a name can be at after some of its characters, and where the next character leads. */
interface State {
  readonly places: readonly number[];
  readonly isEnd: boolean;
  readonly next: Map<string, State>;
}

const END = 0;
/** States are kept for later names. With more than these, all are made again: a pattern can have 2^n of them. */
const MAX_STATES = 256;

/** Matches whole texts. A text takes as many steps as it has characters, times the places of the pattern at the worst. */
export class Automaton {
  readonly #places: Place[] = [{ either: [] }];
  readonly #start: readonly number[];
  readonly #states = new Map<string, State>();

  constructor(items: readonly Item[]) {
    this.#start = this.#reached([build(items, END, this.#places)]);
  }

  matches(text: string): boolean {
    let state = this.#state(this.#start);
    for (let at = 0; at < text.length; at++) {
      if (state.places.length === 0) return false;
      const char = text[at] as string;
      let next = state.next.get(char);
      if (next === undefined) {
        next = this.#step(state, char);
        state.next.set(char, next);
      }
      state = next;
    }
    return state.isEnd;
  }

  #step({ places }: State, char: string): State {
    const next: number[] = [];
    for (const index of places) {
      const place = this.#places[index] as Place;
      if ('takes' in place && place.takes(char)) next.push(place.next);
    }
    return this.#state(this.#reached(next));
  }

  #state(places: readonly number[]): State {
    const key = places.join();
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= MAX_STATES) {
      for (const state of this.#states.values()) state.next.clear();
      this.#states.clear();
    }
    const made = { places, isEnd: places.includes(END), next: new Map<string, State>() };
    this.#states.set(key, made);
    return made;
  }

  /** The places that take a character or are the end, where these lead to. In their order. */
  #reached(from: readonly number[]): readonly number[] {
    const found = new Set<number>();
    const open = [...from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (found.has(index)) continue;
      found.add(index);
      const place = this.#places[index] as Place;
      if ('either' in place) for (const other of place.either) open.push(other);
    }
    return [...found]
      .filter((index) => index === END || 'takes' in (this.#places[index] as Place))
      .sort((a, b) => a - b);
  }
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
    else if (item.kind === 'class') next = add({ takes: (char) => inName(char) && item.has(char), next });
    else if (item.kind === 'one') next = add({ takes: inName, next });
    else if (item.kind === 'some') next = repeated(inName, next);
    else if (item.kind === 'all') next = repeated(() => true, next);
    else {
      const after = next;
      next = add({ either: item.ways.map((way) => build(way, after, places)) });
    }
  }
  return next;
}

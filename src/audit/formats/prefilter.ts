/**
 * Finds out in one pass over a text which of many expressions may match it. For each expression a list of literals is
 * derived from its source, one of which is in every text that it matches; all literals are searched at once, without
 * regard to letter case.
 */
export interface Prefilter {
  /** By the number of each expression: 1 when it may match the text, 0 when it cannot. */
  readonly candidates: (text: string) => Uint8Array;
}

/** A shorter literal is in nearly every text. */
const MIN_LITERAL = 2;
/** Words of most programs: a literal of two other characters is rarer. */
const COMMON = /^(?:true|false|null|import|export|const|return|function|from|require)$/;
const COMMON_WEIGHT = 1.5;
const ALPHABET = 128;

/** Expressions without such literals are always candidates. */
export function prefilterOf(expressions: readonly RegExp[]): Prefilter {
  const lists = expressions.map(literalsOf);
  const always = Uint8Array.from(lists, (list) => (list === undefined ? 1 : 0));
  const machine = machineOf(lists);
  return {
    candidates: (text) => {
      const found = always.slice();
      search(machine, text.toLowerCase(), found);
      return found;
    },
  };
}

/** An Aho-Corasick automaton over ASCII; other characters lead to its root. */
interface Machine {
  /** The next state, by state and character. */
  readonly next: Uint16Array | Int32Array;
  /** Numbers of the expressions that have a literal which ends in a state. */
  readonly ends: readonly (readonly number[] | undefined)[];
  readonly hasEnds: Uint8Array;
}

function machineOf(lists: readonly (readonly string[] | undefined)[]): Machine {
  const states: { readonly to: Map<number, number>; readonly ends: Set<number> }[] = [
    { to: new Map(), ends: new Set() },
  ];
  for (const [number, list] of lists.entries())
    for (const literal of list ?? []) {
      let at = 0;
      for (const char of literal) {
        const code = char.charCodeAt(0);
        const state = states[at] as (typeof states)[number];
        const known = state.to.get(code);
        if (known === undefined) {
          state.to.set(code, states.length);
          at = states.length;
          states.push({ to: new Map(), ends: new Set() });
        } else at = known;
      }
      states[at]?.ends.add(number);
    }
  const next = new (states.length < 1 << 16 ? Uint16Array : Int32Array)(states.length * ALPHABET);
  const fallback = new Int32Array(states.length);
  const queue = [0];
  for (let index = 0; index < queue.length; index += 1) {
    const at = queue[index] as number;
    const state = states[at] as (typeof states)[number];
    const other = fallback[at] as number;
    if (at !== 0) for (const number of states[other]?.ends ?? []) state.ends.add(number);
    for (let code = 0; code < ALPHABET; code += 1) {
      const to = state.to.get(code);
      const elsewhere = at === 0 ? 0 : (next[other * ALPHABET + code] as number);
      if (to !== undefined) {
        fallback[to] = elsewhere;
        queue.push(to);
      }
      next[at * ALPHABET + code] = to ?? elsewhere;
    }
  }
  const ends = states.map((state) => (state.ends.size === 0 ? undefined : [...state.ends]));
  return { next, ends, hasEnds: Uint8Array.from(ends, (one) => (one === undefined ? 0 : 1)) };
}

function search({ next, ends, hasEnds }: Machine, text: string, found: Uint8Array): void {
  let state = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    state = code < ALPHABET ? (next[state * ALPHABET + code] as number) : 0;
    if (hasEnds[state] === 1) for (const number of ends[state] ?? []) found[number] = 1;
  }
}

/** Literals in lower case, one of which is in every match; undefined where none can be derived. Understands what rules use. */
export function literalsOf({ source }: RegExp): readonly string[] | undefined {
  const reader = new SourceReader(source);
  const list = reader.alternatives();
  return reader.isAtEnd && isUseful(list) ? list : undefined;
}

type Literals = readonly string[] | undefined;

const isUseful = (list: Literals): boolean => list?.every((one) => one.length >= MIN_LITERAL) === true;
const shortest = (list: readonly string[]): number =>
  list.reduce((least, one) => Math.min(least, weightOf(one)), Number.POSITIVE_INFINITY);
const weightOf = (literal: string): number => (COMMON.test(literal) ? COMMON_WEIGHT : literal.length);

/** The better of two lists: the one whose shortest literal is longer, then the one with fewer. */
function better(one: Literals, other: Literals): Literals {
  if (one === undefined || other === undefined) return one ?? other;
  const difference = shortest(one) - shortest(other);
  if (difference !== 0) return difference > 0 ? one : other;
  return one.length <= other.length ? one : other;
}

/** What one piece of a source requires: a single character, or one of several literals, or nothing that is known. */
type Piece = { readonly char: string } | { readonly list: Literals };

class SourceReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length;
  }

  /** Up to the end of the group: the literals of all alternatives together, undefined where one has none. */
  alternatives(): Literals {
    const all: string[] = [];
    let isKnown = true;
    for (;;) {
      const list = this.#sequence();
      if (list === undefined) isKnown = false;
      else for (const one of list) all.push(one);
      if (this.#source[this.#at] !== '|') return isKnown ? [...new Set(all)] : undefined;
      this.#at += 1;
    }
  }

  #sequence(): Literals {
    let best: Literals;
    let run = '';
    const flush = (): void => {
      if (run !== '') best = better(best, [run]);
      run = '';
    };
    while (!this.isAtEnd && !/[|)]/.test(this.#source[this.#at] as string)) {
      const piece = this.#piece();
      const least = this.#quantifier();
      if (least === undefined && 'char' in piece) {
        run += piece.char;
        continue;
      }
      // What is repeated is there once at least, and its neighbours may be apart.
      if (least !== undefined && least > 0 && 'char' in piece) run += piece.char;
      flush();
      if (least !== 0 && 'list' in piece) best = better(best, piece.list);
    }
    flush();
    return best;
  }

  /** The least number of repetitions; undefined without a quantifier. */
  #quantifier(): number | undefined {
    const match = /^(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at, this.#at + 20));
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match[1] === undefined ? Number(match[2]) : match[1] === '+' ? 1 : 0;
  }

  #piece(): Piece {
    const char = this.#source[this.#at] as string;
    if (char === '(') return this.#group();
    if (char === '[') return this.#class();
    this.#at += 1;
    if (char === '\\') return this.#escape();
    if (char === '^' || char === '$' || char === '.') return { list: undefined };
    return pieceOf(char);
  }

  #group(): Piece {
    const open = /^\((?:\?(?::|<?[=!]|<\w+>))?/.exec(this.#source.slice(this.#at, this.#at + 40)) as RegExpExecArray;
    this.#at += open[0].length;
    const list = this.alternatives();
    this.#at += 1;
    // What is looked for around a match need not be there, or is not a part of it.
    return { list: /[=!]$/.test(open[0]) ? undefined : list };
  }

  /** A class is a character only where it holds both cases of one letter. */
  #class(): Piece {
    const start = this.#at;
    this.#at += 1;
    while (this.#source[this.#at] !== ']' && !this.isAtEnd) this.#at += this.#source[this.#at] === '\\' ? 2 : 1;
    this.#at += 1;
    const inner = this.#source.slice(start + 1, this.#at - 1).toLowerCase();
    return /^([a-z])\1$/.test(inner) ? { char: inner[0] as string } : { list: undefined };
  }

  #escape(): Piece {
    const char = this.#source[this.#at] as string;
    const long = /^(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]+\}|[pPk][{<][^}>]*[}>]|c[a-z])/i.exec(
      this.#source.slice(this.#at, this.#at + 40),
    );
    this.#at += long === null ? 1 : long[0].length;
    return long !== null || /\w/.test(char) ? { list: undefined } : pieceOf(char);
  }
}

const pieceOf = (char: string): Piece =>
  char.charCodeAt(0) < ALPHABET ? { char: char.toLowerCase() } : { list: undefined };

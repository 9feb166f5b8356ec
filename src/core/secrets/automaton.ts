/** A spelling of a value, and the number of the value that it spells. */
export interface Pattern {
  readonly bytes: Uint8Array;
  readonly value: number;
}

/** All patterns together hold at most this many bytes: a table takes up to 1 KB for each. */
const MAX_PATTERN_BYTES = 120_000;

/**
 * The automaton of Aho and Corasick with a transition for each byte: one step finds every pattern that ends at a byte, so
 * that searching takes the same time for one pattern and for thousands.
 */
export class Automaton {
  /** The class of each byte: bytes that are in no pattern share class 0. */
  readonly #classes = new Uint8Array(256);
  readonly #width: number;
  readonly #next: Int32Array;
  /** The numbers of the values that are found in each state. */
  readonly #found: (readonly number[] | undefined)[] = [undefined];
  /** Whether a pattern was left out because there are too many. */
  readonly isFull: boolean;

  constructor(patterns: readonly Pattern[]) {
    const taken = withinLimit(patterns);
    this.isFull = taken.length < patterns.length;
    let width = 1;
    for (const { bytes } of taken)
      for (const byte of bytes)
        if (this.#classes[byte] === 0) {
          this.#classes[byte] = width;
          width += 1;
        }
    this.#width = width;
    const size = taken.reduce((sum, { bytes }) => sum + bytes.length, 1);
    this.#next = new Int32Array(size * width);
    for (const pattern of taken) this.#add(pattern);
    this.#link();
  }

  /** The state after a byte. The first state is 0. */
  step(state: number, byte: number): number {
    return this.#next[state * this.#width + (this.#classes[byte] as number)] as number;
  }

  /** The numbers of the values of which a spelling ends in this state. */
  found(state: number): readonly number[] | undefined {
    return this.#found[state];
  }

  #add({ bytes, value }: Pattern): void {
    let state = 0;
    for (const byte of bytes) {
      const at = state * this.#width + (this.#classes[byte] as number);
      if (this.#next[at] === 0) {
        this.#next[at] = this.#found.length;
        this.#found.push(undefined);
      }
      state = this.#next[at] as number;
    }
    if (state !== 0) this.#found[state] = union(this.#found[state], [value]);
  }

  /** Fills in where each state continues when a byte does not: breadth first, so that shorter suffixes are complete. */
  #link(): void {
    const width = this.#width;
    const fallback = new Int32Array(this.#found.length);
    const queue: number[] = [0];
    for (let read = 0; read < queue.length; read += 1) {
      const state = queue[read] as number;
      const back = fallback[state] as number;
      if (state !== 0) this.#found[state] = union(this.#found[state], this.#found[back]);
      for (let at = 0; at < width; at += 1) {
        const child = this.#next[state * width + at] as number;
        const otherwise = state === 0 ? 0 : (this.#next[back * width + at] as number);
        if (child === 0) this.#next[state * width + at] = otherwise;
        else {
          fallback[child] = otherwise;
          queue.push(child);
        }
      }
    }
  }
}

function union(
  one: readonly number[] | undefined,
  other: readonly number[] | undefined,
): readonly number[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return [...new Set([...one, ...other])];
}

function withinLimit(patterns: readonly Pattern[]): readonly Pattern[] {
  let size = 0;
  return patterns.filter(({ bytes }) => {
    size += bytes.length;
    return bytes.length > 0 && size <= MAX_PATTERN_BYTES;
  });
}

import { Automaton } from './automaton.ts';
import { spellings, spellingsInNames } from './spellings.ts';

const [CR, LF, TAB, SPACE, PERCENT, BACKSLASH] = [13, 10, 9, 32, 37, 92] as const;
const [LOWER_U, LOWER_X] = [117, 120] as const;
/** What a letter after a backslash stands for. Every other character stands for itself. */
const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [98, 8],
  [102, 12],
  [110, LF],
  [114, CR],
  [116, TAB],
]);

/** Compiled values: any number of searches can use them at the same time. */
export class SearchedValues {
  readonly automaton: Automaton;
  readonly #names: Automaton;

  constructor(values: readonly string[]) {
    this.automaton = new Automaton(spellings(values));
    this.#names = new Automaton(spellingsInNames(values));
  }

  /** A search over one stream of bytes. */
  search(): ValueSearch {
    return new ValueSearch(this.automaton);
  }

  /** The numbers of the values that a host's name has in it, also over several of its labels. */
  inName(name: string): readonly number[] {
    const found = new Set<number>();
    let state = 0;
    for (const byte of new TextEncoder().encode(name.toLowerCase().replaceAll('.', ''))) {
      state = this.#names.step(state, byte);
      for (const value of this.#names.found(state) ?? []) found.add(value);
    }
    return [...found];
  }
}

/**
 * Searches one stream of bytes, chunk by chunk, in two views of it: as it is, and with the escapes of URLs and JSON decoded.
 * Both leave out line breaks and the indentation after them. Each byte costs at most two steps of the automaton.
 */
export class ValueSearch {
  readonly #automaton: Automaton;
  readonly #found = new Set<number>();
  readonly #plain: View;
  readonly #decoded: View;
  /** Characters of an escape that has begun; empty outside of one. */
  #escape: number[] = [];
  /** Steps of the automaton so far. */
  steps = 0;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#plain = { state: 0, isAfterBreak: false };
    this.#decoded = { state: 0, isAfterBreak: false };
  }

  /** The numbers of all values that were found so far. */
  get found(): ReadonlySet<number> {
    return this.#found;
  }

  /** Searches the next bytes of the stream. Returns whether a value was found that was not found before. */
  push(bytes: Uint8Array): boolean {
    const before = this.#found.size;
    const [plain, decoded] = [this.#plain, this.#decoded];
    const isSame =
      this.#escape.length === 0 &&
      plain.state === decoded.state &&
      plain.isAfterBreak === decoded.isAfterBreak &&
      !bytes.includes(PERCENT) &&
      !bytes.includes(BACKSLASH);
    for (const byte of bytes) {
      this.#read(plain, byte);
      if (!isSame) this.#decode(byte);
    }
    if (isSame) Object.assign(decoded, plain);
    return this.#found.size > before;
  }

  #read(view: View, byte: number): void {
    if (byte === LF || byte === CR) {
      view.isAfterBreak = true;
      return;
    }
    if (view.isAfterBreak && (byte === SPACE || byte === TAB)) return;
    view.isAfterBreak = false;
    this.steps += 1;
    view.state = this.#automaton.step(view.state, byte);
    const found = this.#automaton.found(view.state);
    if (found !== undefined) for (const value of found) this.#found.add(value);
  }

  #decode(byte: number): void {
    const begun = this.#escape;
    if (begun.length === 0) {
      if (byte === PERCENT || byte === BACKSLASH) begun.push(byte);
      else this.#read(this.#decoded, byte);
      return;
    }
    const isShort = begun.length === 1 && begun[0] === BACKSLASH && byte !== LOWER_U && byte !== LOWER_X;
    if (isShort) {
      this.#escape = [];
      this.#read(this.#decoded, SHORT_ESCAPES.get(byte) ?? byte);
      return;
    }
    const isDigit = begun[0] === PERCENT || begun.length > 1;
    if (isDigit && hexDigit(byte) === undefined) {
      // Not an escape after all.
      this.#escape = [];
      for (const one of begun) this.#read(this.#decoded, one);
      this.#decode(byte);
      return;
    }
    begun.push(byte);
    if (begun.length < lengthOf(begun)) return;
    this.#escape = [];
    const digits = begun[0] === PERCENT ? begun.slice(1) : begun.slice(2);
    const code = digits.reduce((sum, one) => sum * 16 + (hexDigit(one) ?? 0), 0);
    // Values are of ASCII; another character is in none.
    this.#read(this.#decoded, code < 128 ? code : 0);
  }
}

interface View {
  state: number;
  isAfterBreak: boolean;
}

/** Bytes of an escape: `%41`, `\x41`, `\u0041`. */
function lengthOf([first, second]: readonly number[]): number {
  if (first === PERCENT) return 3;
  return second === LOWER_U ? 6 : 4;
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : undefined;
}

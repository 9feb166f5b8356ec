import { createCharacterReader } from './characters.ts';

/** What a terminal's byte stream is made of, part by part. A sequence is reported when it is complete. */
export interface SequenceHandler {
  /** Printable characters and line ends, complete. */
  text(bytes: Uint8Array): void;
  /** A byte that is not valid UTF-8 where it is. */
  invalid(): void;
  /** A single control character: C0, DEL, or C1 as UTF-8. */
  control(code: number): void;
  /** A control sequence: what follows `ESC [`, up to the final byte. */
  csi(body: string): void;
  /** An operating system command: what follows `ESC ]`, as UTF-8. */
  osc(body: string): void;
  /** Any other escape sequence: what follows ESC. */
  escape(body: string): void;
  /** A device control string, SOS, PM or APC. */
  controlString(): void;
  /** A sequence longer than is ever judged: the start of its body. */
  tooLong(kind: 'csi' | 'osc' | 'escape', start: string): void;
  /** A sequence that was cut off by another one, by a control character, or by the end. */
  cutOff(): void;
}

/** Longest body of each kind; they also bound the memory. */
const MAX_CSI = 256;
const MAX_OSC = 4096;
const MAX_ESCAPE = 4;

const ESC = 0x1b;
const BEL = 0x07;
/** The two controls that cancel a sequence. */
const CANCELS: ReadonlySet<number> = new Set([0x18, 0x1a]);
const BACKSLASH = 0x5c;
/** What ESC and this byte begin: CSI, OSC, or one of the strings DCS, SOS, PM and APC. */
const INTRODUCED: ReadonlyMap<number, State> = new Map([
  [0x5b, 'csi'],
  [0x5d, 'osc'],
  [0x50, 'string'],
  [0x58, 'string'],
  [0x5e, 'string'],
  [0x5f, 'string'],
]);

/** Which part of the stream the next byte belongs to. `…-escape`: after an ESC inside of that part. */
type State = 'text' | 'escape' | 'csi' | 'osc' | 'osc-escape' | 'string' | 'string-escape';

/** Splits a byte stream into parts, the same ones however the stream is cut into chunks. */
export class SequenceReader {
  readonly #handler: SequenceHandler;
  readonly #character = createCharacterReader();
  #state: State = 'text';
  /** What the sequence has so far, up to its limit. */
  #body: number[] = [];
  #isTooLong = false;
  readonly #readers: Readonly<Record<State, (byte: number) => void>> = {
    text: (byte) => this.#readText(byte),
    escape: (byte) => this.#readEscape(byte),
    csi: (byte) => this.#readCsi(byte),
    osc: (byte) => this.#readOsc(byte),
    'osc-escape': (byte) => this.#readStringEscape(byte),
    string: (byte) => this.#readString(byte),
    'string-escape': (byte) => this.#readStringEscape(byte),
  };

  constructor(handler: SequenceHandler) {
    this.#handler = handler;
  }

  read(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += 1) {
      const end = this.#state === 'text' && !this.#character.isPartial() ? plainUntil(chunk, at) : at;
      if (end > at) this.#handler.text(chunk.subarray(at, end));
      at = end;
      if (at < chunk.length) this.#readByte(chunk[at] as number);
    }
  }

  /** What is incomplete is cut off. */
  end(): void {
    if (this.#state !== 'text') this.#cutOff();
    this.#character.reset();
  }

  #readByte(byte: number): void {
    this.#readers[this.#state](byte);
  }

  #readText(byte: number): void {
    if (this.#character.isPartial() && !this.#character.continues(byte)) {
      this.#handler.invalid();
      this.#character.reset();
    }
    if (byte === ESC) this.#enter('escape');
    else if (byte >= 0x80) this.#readCharacter(byte);
    else if (byte >= 0x20 && byte !== 0x7f) this.#handler.text(Buffer.of(byte));
    else this.#handler.control(byte);
  }

  #readCharacter(byte: number): void {
    const read = this.#character.read(byte);
    if (read === 'invalid') this.#handler.invalid();
    else if (read !== undefined) {
      const [first = 0, second = 0] = read;
      // U+0080 to U+009F are the 8-bit controls.
      if (first === 0xc2 && second < 0xa0) this.#handler.control(second);
      else this.#handler.text(read);
    }
  }

  #readEscape(byte: number): void {
    const next = this.#body.length === 0 ? INTRODUCED.get(byte) : undefined;
    if (next !== undefined) this.#enter(next);
    else if (byte < 0x20 || byte > 0x7e) this.#cutOffBy(byte);
    else {
      this.#keep(byte, MAX_ESCAPE);
      if (byte >= 0x30) this.#finish('escape', 'latin1');
    }
  }

  #readCsi(byte: number): void {
    if (byte < 0x20 || byte > 0x7e) {
      this.#cutOffBy(byte);
      return;
    }
    this.#keep(byte, MAX_CSI);
    if (byte >= 0x40) this.#finish('csi', 'latin1');
  }

  #readOsc(byte: number): void {
    if (byte === BEL) this.#finish('osc', 'utf8');
    else if (byte === ESC) this.#state = 'osc-escape';
    else if (CANCELS.has(byte)) this.#cutOff();
    else this.#keep(byte, MAX_OSC);
  }

  #readString(byte: number): void {
    if (byte === ESC) this.#state = 'string-escape';
    else if (CANCELS.has(byte)) this.#cutOff();
  }

  /** After ESC in a string: a backslash ends it (ST), anything else is its own escape sequence. */
  #readStringEscape(byte: number): void {
    if (byte !== BACKSLASH) {
      this.#cutOff();
      this.#enter('escape');
      this.#readByte(byte);
    } else if (this.#state === 'osc-escape') this.#finish('osc', 'utf8');
    else {
      this.#handler.controlString();
      this.#enter('text');
    }
  }

  #enter(next: State): void {
    this.#state = next;
    this.#body = [];
    this.#isTooLong = false;
  }

  #keep(byte: number, limit: number): void {
    if (this.#body.length < limit) this.#body.push(byte);
    else this.#isTooLong = true;
  }

  /** Reports the sequence, which is complete. */
  #finish(kind: 'csi' | 'osc' | 'escape', encoding: 'latin1' | 'utf8'): void {
    const body = Buffer.from(this.#body);
    if (this.#isTooLong) this.#handler.tooLong(kind, body.toString('latin1'));
    else this.#handler[kind](body.toString(encoding));
    this.#enter('text');
  }

  #cutOff(): void {
    this.#handler.cutOff();
    this.#enter('text');
  }

  /** The sequence is dropped. The byte counts as usual, unless it only cancels. */
  #cutOffBy(byte: number): void {
    this.#cutOff();
    if (!CANCELS.has(byte)) this.#readByte(byte);
  }
}

/** End of the run of printable ASCII and line ends that starts at `from`: most of any output. */
function plainUntil(chunk: Uint8Array, from: number): number {
  let at = from;
  while (at < chunk.length) {
    const byte = chunk[at] as number;
    if ((byte < 0x20 && byte !== 0x0a && byte !== 0x0d) || byte > 0x7e) break;
    at += 1;
  }
  return at;
}

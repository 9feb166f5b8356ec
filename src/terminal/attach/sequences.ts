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

export interface SequenceReader {
  read(chunk: Uint8Array): void;
  /** What is incomplete is cut off. */
  end(): void;
}

/** Longest body of each kind; they also bound the memory. */
const MAX_CSI = 256;
const MAX_OSC = 4096;
const MAX_ESCAPE = 4;

const ESC = 0x1b;
const BEL = 0x07;
/** The two controls that cancel a sequence. */
const CANCELS: ReadonlySet<number> = new Set([0x18, 0x1a]);
/** What begins a string after ESC, other than OSC: DCS, SOS, PM and APC. */
const STRINGS: ReadonlySet<number> = new Set([0x50, 0x58, 0x5e, 0x5f]);

type State = 'text' | 'escape' | 'csi' | 'osc' | 'osc-escape' | 'string' | 'string-escape';

/** Splits a byte stream into parts, the same ones however the stream is cut into chunks. */
export function createSequenceReader(handler: SequenceHandler): SequenceReader {
  const character = createCharacterReader();
  let state: State = 'text';
  let body: number[] = [];
  let isTooLong = false;

  const enter = (next: State): void => {
    state = next;
    body = [];
    isTooLong = false;
  };
  const keep = (byte: number, limit: number): void => {
    if (body.length < limit) body.push(byte);
    else isTooLong = true;
  };
  const bodyText = (): string => Buffer.from(body).toString('latin1');
  const cutOff = (): void => {
    handler.cutOff();
    enter('text');
  };
  /** The sequence is dropped; the byte counts as usual, unless it only cancels. */
  const cutOffBy = (byte: number): void => {
    cutOff();
    if (!CANCELS.has(byte)) readByte(byte);
  };

  const readText = (byte: number): void => {
    if (character.isPartial() && !character.continues(byte)) {
      handler.invalid();
      character.reset();
    }
    if (byte === ESC) enter('escape');
    else if (byte >= 0x80) readCharacter(byte);
    else if (byte >= 0x20 && byte !== 0x7f) handler.text(Buffer.of(byte));
    else handler.control(byte);
  };
  const readCharacter = (byte: number): void => {
    const read = character.read(byte);
    if (read === 'invalid') handler.invalid();
    else if (read !== undefined) {
      const [first = 0, second = 0] = read;
      // U+0080 to U+009F are the 8-bit controls.
      if (first === 0xc2 && second < 0xa0) handler.control(second);
      else handler.text(read);
    }
  };
  const readEscape = (byte: number): void => {
    if (body.length === 0 && byte === 0x5b) enter('csi');
    else if (body.length === 0 && byte === 0x5d) enter('osc');
    else if (body.length === 0 && STRINGS.has(byte)) enter('string');
    else if (byte < 0x20 || byte > 0x7e) cutOffBy(byte);
    else {
      keep(byte, MAX_ESCAPE);
      if (byte < 0x30) return;
      if (isTooLong) handler.tooLong('escape', bodyText());
      else handler.escape(bodyText());
      enter('text');
    }
  };
  const readCsi = (byte: number): void => {
    if (byte < 0x20 || byte > 0x7e) {
      cutOffBy(byte);
      return;
    }
    keep(byte, MAX_CSI);
    if (byte < 0x40) return;
    if (isTooLong) handler.tooLong('csi', bodyText());
    else handler.csi(bodyText());
    enter('text');
  };
  const endOsc = (): void => {
    if (isTooLong) handler.tooLong('osc', bodyText());
    else handler.osc(Buffer.from(body).toString('utf8'));
    enter('text');
  };
  const endString = (): void => {
    handler.controlString();
    enter('text');
  };
  const readOsc = (byte: number): void => {
    if (byte === BEL) endOsc();
    else if (byte === ESC) state = 'osc-escape';
    else if (CANCELS.has(byte)) cutOff();
    else keep(byte, MAX_OSC);
  };
  const readString = (byte: number): void => {
    if (byte === ESC) state = 'string-escape';
    else if (CANCELS.has(byte)) cutOff();
  };
  /** After ESC in a string: a backslash ends it (ST), anything else is an escape sequence of its own. */
  const readStringEscape = (byte: number, end: () => void): void => {
    if (byte === 0x5c) {
      end();
      return;
    }
    cutOff();
    enter('escape');
    readByte(byte);
  };

  const READERS: Readonly<Record<State, (byte: number) => void>> = {
    text: readText,
    escape: readEscape,
    csi: readCsi,
    osc: readOsc,
    'osc-escape': (byte) => readStringEscape(byte, endOsc),
    string: readString,
    'string-escape': (byte) => readStringEscape(byte, endString),
  };
  const readByte = (byte: number): void => READERS[state](byte);

  return {
    read(chunk) {
      for (let at = 0; at < chunk.length; at += 1) {
        const end = state === 'text' && !character.isPartial() ? plainUntil(chunk, at) : at;
        if (end > at) handler.text(chunk.subarray(at, end));
        at = end;
        if (at < chunk.length) readByte(chunk[at] as number);
      }
    },
    end() {
      if (state !== 'text') cutOff();
      character.reset();
    },
  };
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

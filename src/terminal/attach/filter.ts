import { type DropReason, judgeCsi, judgeEscape, judgeOsc, type Verdict } from './filter-rules.ts';
import { createScreenState } from './filter-state.ts';

/** Cleans what the agent's program writes to the person's terminal, as it streams. */
export interface TerminalFilter {
  /** What may be written for this chunk. A sequence that is not complete yet is kept back. */
  write(chunk: Uint8Array): Buffer;
  /** Ends the stream (what was incomplete is dropped) and gives what puts the terminal's state back, if {@link leave} did not. */
  end(): Buffer;
  /** What puts the terminal's state back while the stream pauses, between two pieces of output. */
  leave(): Buffer;
  /** What sets the state again that {@link leave} put back. */
  enter(): Buffer;
  /** How much was dropped, by reason. */
  dropped(): Readonly<Partial<Record<DropReason, number>>>;
}

/** Longest sequence that is judged at all; longer ones are dropped whole. Also bounds the memory. */
const MAX_CSI = 256;
const MAX_OSC = 4096;

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** Single controls that move the cursor, ring or shift; ENQ (answer-back), XON and XOFF are not among them. */
const CONTROLS = new Set([BEL, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);
const REPLACEMENT = Buffer.from('\ufffd');

type State = 'ground' | 'escape' | 'csi' | 'osc' | 'string' | 'string-escape';

/**
 * The allowlist of the attached terminal, the only place that prints an agent's escape sequences: text in valid UTF-8, cursor and erase, colours, screen
 * and keyboard modes, titles, links to http and https. Clipboard, queries that the terminal would answer as if typed,
 * printing, windows, files, device control strings and 8-bit controls are dropped and counted. The same bytes give the
 * same output however they are cut into chunks. `onStopped` is called when PID 1 reports that the agent's program has
 * stopped; the agent can forge that report.
 */
export function createTerminalFilter(onStopped: () => void = () => undefined): TerminalFilter {
  const screen = createScreenState();
  const counts: Partial<Record<DropReason, number>> = {};
  let state: State = 'ground';
  /** Bytes of the sequence at hand, after its introducer. */
  let held: number[] = [];
  let tooLong = false;
  /** Of a string: device control, or an operating system command whose text is kept. */
  let stringKind: 'osc' | 'other' = 'other';
  /** Bytes of a character that is not complete. */
  let partial: number[] = [];
  let out: Buffer[] = [];
  let isLeft = false;

  const drop = (reason: DropReason): void => {
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  const settle = (verdict: Verdict): void => {
    if ('drop' in verdict) {
      drop(verdict.drop);
      return;
    }
    if ('sign' in verdict) {
      onStopped();
      return;
    }
    out.push(Buffer.from(verdict.pass));
    screen.note(verdict.pass);
  };
  const begin = (next: State): void => {
    state = next;
    held = [];
    tooLong = false;
  };
  const hold = (byte: number, limit: number): void => {
    if (held.length < limit) held.push(byte);
    else tooLong = true;
  };
  const heldText = (): string => Buffer.from(held).toString('latin1');

  const endCsi = (): void => {
    const parts = /^([?<=>]?)([\d;:]*)([ -/]*)([@-~])$/.exec(heldText());
    if (tooLong || parts === null) drop('other');
    else settle(judgeCsi(parts[1] ?? '', parts[2] ?? '', parts[3] ?? '', parts[4] ?? ''));
    begin('ground');
  };
  const endString = (): void => {
    if (stringKind === 'other') drop('device control');
    else if (tooLong) drop(heldText().startsWith('52;') ? 'clipboard' : 'other');
    else settle(judgeOsc(Buffer.from(held).toString('utf8')));
    begin('ground');
  };
  const beginString = (kind: 'osc' | 'other'): void => {
    stringKind = kind;
    begin('string');
  };
  const abandon = (): void => {
    drop('other');
    begin('ground');
  };

  const inEscape = (byte: number): void => {
    if (held.length === 0 && byte === 0x5b) {
      begin('csi');
      return;
    }
    if (held.length === 0 && byte === 0x5d) {
      beginString('osc');
      return;
    }
    // DCS, SOS, PM, APC
    if (held.length === 0 && [0x50, 0x58, 0x5e, 0x5f].includes(byte)) {
      beginString('other');
      return;
    }
    if (byte < 0x20 || byte > 0x7e) {
      resume(byte);
      return;
    }
    hold(byte, 4);
    if (byte >= 0x30) {
      settle(tooLong ? { drop: 'other' } : judgeEscape(heldText()));
      begin('ground');
    }
  };
  const inCsi = (byte: number): void => {
    if (byte < 0x20 || byte > 0x7e) {
      resume(byte);
      return;
    }
    hold(byte, MAX_CSI);
    if (byte >= 0x40) endCsi();
  };
  /** A control or a byte of text inside a sequence: the sequence is dropped, the byte counts as usual. */
  const resume = (byte: number): void => {
    abandon();
    if (byte !== CAN && byte !== SUB) feed(byte);
  };
  const inString = (byte: number): void => {
    if (byte === BEL && stringKind === 'osc') {
      endString();
      return;
    }
    if (byte === ESC) {
      state = 'string-escape';
      return;
    }
    if (byte === CAN || byte === SUB) {
      abandon();
      return;
    }
    hold(byte, MAX_OSC);
  };
  const inStringEscape = (byte: number): void => {
    if (byte === 0x5c) {
      endString();
      return;
    }
    abandon();
    begin('escape');
    feed(byte);
  };

  const ground = (byte: number): void => {
    if (partial.length > 0 && !continues(byte)) {
      out.push(REPLACEMENT);
      partial = [];
    }
    if (byte === ESC) {
      begin('escape');
      return;
    }
    if (byte >= 0x80) {
      text(byte);
      return;
    }
    if ((byte >= 0x20 && byte !== 0x7f) || CONTROLS.has(byte)) out.push(Buffer.of(byte));
    else if (byte !== 0) drop(byte === 0x05 ? 'query' : 'other');
  };
  const continues = (byte: number): boolean => {
    const [first = 0] = partial;
    if (byte < 0x80 || byte > 0xbf) return false;
    if (partial.length > 1) return true;
    // Overlong forms, surrogates and what is above the last character.
    if (first === 0xe0) return byte >= 0xa0;
    if (first === 0xed) return byte <= 0x9f;
    if (first === 0xf0) return byte >= 0x90;
    if (first === 0xf4) return byte <= 0x8f;
    return true;
  };
  const text = (byte: number): void => {
    if (partial.length === 0 && (byte < 0xc2 || byte > 0xf4)) {
      out.push(REPLACEMENT);
      return;
    }
    partial.push(byte);
    const [first = 0, second = 0] = partial;
    if (partial.length < (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2)) return;
    // U+0080 to U+009F are the 8-bit controls.
    if (first === 0xc2 && second < 0xa0) drop('other');
    else out.push(Buffer.from(partial));
    partial = [];
  };

  const feed = (byte: number): void => {
    if (state === 'ground') ground(byte);
    else if (state === 'escape') inEscape(byte);
    else if (state === 'csi') inCsi(byte);
    else if (state === 'string-escape') inStringEscape(byte);
    else inString(byte);
  };

  return {
    write: (chunk) => {
      for (let at = 0; at < chunk.length; at += 1) {
        const end = state === 'ground' && partial.length === 0 ? plainUntil(chunk, at) : at;
        if (end > at) out.push(Buffer.from(chunk.subarray(at, end)));
        at = end;
        if (at < chunk.length) feed(chunk[at] as number);
      }
      const passed = Buffer.concat(out);
      out = [];
      return passed;
    },
    end: () => {
      if (state !== 'ground') abandon();
      partial = [];
      return Buffer.from(isLeft ? '' : screen.restore());
    },
    leave: () => {
      isLeft = true;
      return Buffer.from(screen.restore());
    },
    enter: () => {
      isLeft = false;
      return Buffer.from(screen.again());
    },
    dropped: () => ({ ...counts }),
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

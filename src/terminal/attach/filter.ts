import { type DropReason, judgeCsi, judgeEscape, judgeOsc, type Verdict } from './filter-rules.ts';
import { createScreenState } from './filter-state.ts';
import { SequenceReader } from './sequences.ts';

/** Cleans what the agent's program writes to the user's terminal, as it streams. */
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

/** Controls that move the cursor, ring or shift. ENQ (answer-back), XON and XOFF are not among them. */
const PASSED_CONTROLS: ReadonlySet<number> = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]);
/** Those that choose another character set for all text that follows. */
const SHIFTS: ReadonlySet<number> = new Set([0x0e, 0x0f]);
const NUL = 0x00;
const ENQ = 0x05;
const REPLACEMENT = Buffer.from('\ufffd');
/** Parameters, intermediates and final byte of a control sequence. */
const CSI_PARTS = /^([?<=>]?)([\d;:]*)([ -/]*)([@-~])$/;

/**
 * The allowlist of the attached terminal, the only place that prints an agent's escape sequences: text in valid UTF-8,
 * cursor and erase, colours, screen and keyboard modes, titles, links to http and https. Clipboard, queries that the
 * terminal would answer as if typed, printing, windows, files, device control strings and 8-bit controls are dropped and
 * counted. The same bytes give the same output however they are cut into chunks. `onStopped` is called when PID 1 reports
 * that the agent's program has stopped; the agent can forge that report.
 */
export function createTerminalFilter(onStopped: () => void = () => undefined): TerminalFilter {
  const screen = createScreenState();
  const counts: Partial<Record<DropReason, number>> = {};
  let out: Uint8Array[] = [];
  let hasLeft = false;

  const drop = (reason: DropReason): void => {
    counts[reason] = (counts[reason] ?? 0) + 1;
  };
  const carryOut = (verdict: Verdict): void => {
    if ('drop' in verdict) drop(verdict.drop);
    else if ('sign' in verdict) onStopped();
    else {
      out.push(Buffer.from(verdict.pass));
      screen.note(verdict.pass);
    }
  };
  const sequences = new SequenceReader({
    text: (bytes) => void out.push(bytes),
    invalid: () => void out.push(REPLACEMENT),
    control(code) {
      if (PASSED_CONTROLS.has(code)) {
        out.push(Buffer.of(code));
        if (SHIFTS.has(code)) screen.note('');
      } else if (code !== NUL) drop(code === ENQ ? 'query' : 'other');
    },
    csi(body) {
      const parts = CSI_PARTS.exec(body);
      if (parts === null) drop('other');
      else carryOut(judgeCsi(parts[1] ?? '', parts[2] ?? '', parts[3] ?? '', parts[4] ?? ''));
    },
    osc: (body) => carryOut(judgeOsc(body)),
    escape: (body) => carryOut(judgeEscape(body)),
    controlString: () => drop('device control'),
    tooLong: (kind, start) => drop(kind === 'osc' && start.startsWith('52;') ? 'clipboard' : 'other'),
    cutOff: () => drop('other'),
  });

  return {
    write(chunk) {
      sequences.read(chunk);
      // Copies: the caller may use its chunk again.
      const passed = Buffer.concat(out);
      out = [];
      return passed;
    },
    end() {
      sequences.end();
      return Buffer.from(hasLeft ? '' : screen.restore());
    },
    leave() {
      hasLeft = true;
      return Buffer.from(screen.restore());
    },
    enter() {
      hasLeft = false;
      return Buffer.from(screen.again());
    },
    dropped: () => ({ ...counts }),
  };
}

/** What docker's own attach is left by. The agent gets the first of the two, since it is a key by itself. */
const LETS_GO: readonly number[] = [0x10, 0x11];

/** Calls `letGo` at the keys that say so, whichever pieces they come in; those after them are nobody's. */
export function watchKeys(letGo: () => void): (typed: Buffer) => Buffer {
  let last: number | undefined;
  let gone = false;
  return (typed) => {
    if (gone) return Buffer.alloc(0);
    for (const [at, key] of typed.entries()) {
      if (last === LETS_GO[0] && key === LETS_GO[1]) {
        gone = true;
        letGo();
        return typed.subarray(0, at);
      }
      last = key;
    }
    return typed;
  };
}

/** Ctrl-Z as a plain key, in the kitty protocol (pressed, perhaps released) and as xterm's modifyOtherKeys has it. */
const CTRL_Z = /(?:\x1a|\x1b\[122(?::\d*)*;5(?::[123])?u|\x1b\[27;5;122~)$/;
/** How long a program takes to stop after the key, on a busy machine too. */
const STOP_WITHIN_MS = 5000;

export interface SuspendKey {
  /** To be called with every piece that is typed. */
  note(typed: Buffer): void;
  /** Whether Ctrl-Z is the last key, and was pressed just now. */
  wasPressed(): boolean;
}

/**
 * Remembers whether the user pressed Ctrl-Z. Only then may a program that stops give the terminal to the shell above: an
 * agent that stops while the user types would otherwise have the rest of the line run by that shell.
 */
export function watchSuspendKey(nowMs: () => number = () => performance.now()): SuspendKey {
  let pressedMs = Number.NEGATIVE_INFINITY;
  return {
    note(typed) {
      pressedMs = CTRL_Z.test(typed.toString('latin1')) ? nowMs() : Number.NEGATIVE_INFINITY;
    },
    wasPressed: () => nowMs() - pressedMs < STOP_WITHIN_MS,
  };
}

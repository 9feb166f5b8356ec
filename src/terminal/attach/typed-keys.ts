/** Ctrl-P Ctrl-Q, as in `docker attach`. The agent gets the first of the two, since it is a key by itself. */
const DETACH_KEYS: readonly number[] = [0x10, 0x11];

/** Calls `onDetach` at the detach keys, in however many pieces they arrive. What is typed after them is dropped. */
export function watchDetachKeys(onDetach: () => void): (typed: Buffer) => Buffer {
  let last: number | undefined;
  let isDetached = false;
  return (typed) => {
    if (isDetached) return Buffer.alloc(0);
    for (const [at, key] of typed.entries()) {
      if (last === DETACH_KEYS[0] && key === DETACH_KEYS[1]) {
        isDetached = true;
        onDetach();
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

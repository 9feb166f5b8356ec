import { isInForeground } from '../core/host/processes/process-group.ts';

/** The user's terminal as far as keys are read from it. */
export interface KeySource {
  readonly isTTY?: boolean;
  readonly isRaw?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data', listener: (typed: Buffer) => void): unknown;
  off(event: 'data', listener: (typed: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The part of the process that keys act on. */
export interface KeyEffects {
  /** Sends a signal to the process group, as the terminal does. */
  signal(name: 'SIGINT' | 'SIGQUIT'): void;
  /** Stops the process group until SIGCONT, as the terminal does. */
  suspend(): void;
  onContinued(listener: () => void): Disposable;
  /** Another process group may have the terminal: a change of its mode, or a read, would stop this process. */
  isInForeground(): boolean;
}

const CTRL_C = 0x03;
const CTRL_Z = 0x1a;
const CTRL_BACKSLASH = 0x1c;

/**
 * Reads and drops what is typed, without an echo, until it is disposed: an echo would be drawn into the status line, and
 * what was typed before a question is on the screen must not answer it. Ctrl-C, Ctrl-\ and Ctrl-Z do what they always do.
 */
export function muteKeys(stdin: KeySource, effects: KeyEffects = OWN_EFFECTS): Disposable {
  const wasRaw = stdin.isRaw === true;
  let isMuted = false;
  const release = (): void => {
    if (!isMuted) return;
    isMuted = false;
    stdin.off('data', onData);
    stdin.pause();
    stdin.setRawMode?.(wasRaw);
  };
  const mute = (): void => {
    if (isMuted || stdin.isTTY !== true || !effects.isInForeground()) return;
    isMuted = true;
    stdin.setRawMode?.(true);
    stdin.on('data', onData);
    stdin.resume();
  };
  const onData = (typed: Buffer): void => {
    for (const key of typed) {
      if (key === CTRL_C) effects.signal('SIGINT');
      else if (key === CTRL_BACKSLASH) effects.signal('SIGQUIT');
      else if (key === CTRL_Z) {
        release();
        effects.suspend();
      }
    }
  };
  const continued = effects.onContinued(mute);
  mute();
  return {
    [Symbol.dispose]() {
      continued[Symbol.dispose]();
      release();
    },
  };
}

const OWN_EFFECTS: KeyEffects = {
  isInForeground,
  signal: (name) => void process.kill(0, name),
  suspend: () => void process.kill(0, 'SIGTSTP'),
  onContinued(listener) {
    process.on('SIGCONT', listener);
    return { [Symbol.dispose]: () => void process.off('SIGCONT', listener) };
  },
};

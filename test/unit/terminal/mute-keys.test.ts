import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { type KeyEffects, muteKeys } from '../../../src/terminal/mute-keys.ts';

/** A terminal's keyboard, and what happened to it and to the process in order. */
class Keyboard extends EventEmitter {
  readonly isTTY: boolean = true;
  isRaw = false;
  isForeground = true;
  readonly happened: string[] = [];
  continued: () => void = () => undefined;
  readonly effects: KeyEffects = {
    signal: (name) => this.happened.push(name),
    suspend: () => this.happened.push(`stopped, ${this.isRaw ? 'raw' : 'cooked'}`),
    onContinued: (listener) => {
      this.continued = listener;
      return { [Symbol.dispose]: () => this.happened.push('not watched') };
    },
    isInForeground: () => this.isForeground,
  };

  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
    this.happened.push(isRaw ? 'raw' : 'cooked');
  }

  pause(): void {
    this.happened.push('pause');
  }

  resume(): void {
    this.happened.push('resume');
  }

  type(text: string): void {
    this.emit('data', Buffer.from(text));
  }
}

it('drops keys without an echo until its end, and then puts the terminal back', () => {
  const keyboard = new Keyboard();
  {
    using _muted = muteKeys(keyboard, keyboard.effects);
    keyboard.type('y\r');
    expect(keyboard.happened.splice(0)).toEqual(['raw', 'resume']);
  }
  expect(keyboard.happened).toEqual(['not watched', 'pause', 'cooked']);
  expect(keyboard.listenerCount('data')).toBe(0);
});

it('does what the terminal does at Ctrl-C and Ctrl-\\, also among other keys', () => {
  const keyboard = new Keyboard();
  using _muted = muteKeys(keyboard, keyboard.effects);
  keyboard.happened.length = 0;
  keyboard.type('abc\x03d\x1c');
  expect(keyboard.happened).toEqual(['SIGINT', 'SIGQUIT']);
});

it('gives the terminal back for Ctrl-Z, and takes it again in the foreground only', () => {
  const keyboard = new Keyboard();
  using _muted = muteKeys(keyboard, keyboard.effects);
  keyboard.happened.length = 0;
  keyboard.type('\x1a');
  expect(keyboard.happened.splice(0)).toEqual(['pause', 'cooked', 'stopped, cooked']);
  keyboard.isForeground = false;
  keyboard.continued();
  expect(keyboard.happened).toEqual([]);
  keyboard.isForeground = true;
  keyboard.continued();
  keyboard.continued();
  expect(keyboard.happened).toEqual(['raw', 'resume']);
});

it('touches neither a terminal in which it is in the background, nor a pipe', () => {
  const background = new Keyboard();
  background.isForeground = false;
  muteKeys(background, background.effects)[Symbol.dispose]();
  const pipe = Object.assign(new Keyboard(), { isTTY: false });
  muteKeys(pipe, pipe.effects)[Symbol.dispose]();
  expect([...background.happened, ...pipe.happened]).toEqual(['not watched', 'not watched']);
});

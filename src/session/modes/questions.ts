import type { Question } from '../../terminal/ask.ts';

// Every question of a separate mode, so that they can be read together.

/** An n that was typed for the agent must not leave the files in place. */
export function restoreQuestion(): Question<'y' | 'n'> {
  return {
    text: 'Restore these now?',
    about: ['The session changed these files, and git would run what they name: with your rights, on this machine.'],
    answers: { y: 'put them back as they were before the session (also Ctrl-C)', n: 'leave them as they are now' },
    onEnter: 'y',
    waitsForSilence: true,
  };
}

import type { Question } from '../../terminal/ask.ts';

// Every question of a separate mode, so that they can be read together.

/** `why`: the message of MASK_UNWATCHED. */
export function unmaskedQuestion(why: string): Question<'y' | 'n'> {
  return {
    text: 'Start without masks?',
    about: [
      `${why}.`,
      'A mask covers a file only until another file takes its name, as when an editor saves. Without a watch that stays unnoticed.',
    ],
    answers: {
      y: 'start; the agent can read these files as they are',
      n: 'end here; nothing was started (also Ctrl-C)',
    },
    onEnter: 'n',
    waitsForSilence: true,
  };
}

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

import type { Question } from '../../terminal/ask.ts';

/** Before the review, with `--rehearse=ask`. */
export function rehearseQuestion(): Question<'y' | 'n'> {
  return {
    text: 'Rehearse the changes first?',
    about: ['The session changed files. Usual commands can be run without and with the changes, in scratch layers.'],
    answers: {
      y: 'run them, and show with the changes what only they start',
      n: 'show the changes now; r at the next question rehearses them',
    },
    onEnter: 'n',
    // What was typed for the agent must not answer.
    waitsForSilence: true,
  };
}

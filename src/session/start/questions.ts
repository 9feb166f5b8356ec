import type { Question } from '../../terminal/ask.ts';

// The questions of a start, so that they can be read together.

/** `screen`: what the lines of the start screen mean. */
export function startQuestion(screen: readonly string[]): Question<'y' | 'n'> {
  return {
    text: 'Start the session?',
    about: screen,
    answers: { y: 'start the session as the lines above say', n: 'end here; nothing was started (also Ctrl-C)' },
    onEnter: 'y',
    waitsForSilence: true,
  };
}

export function requestQuestion(): Question<'y' | 'n'> {
  return {
    text: 'Allow all of this in the sandbox?',
    about: [
      'The lines above come from a file of the project. They hold for its sessions, and only inside the sandbox.',
      'Your answer is kept for this request. Another request of the project asks again.',
    ],
    answers: { y: 'allow it, for this session and later ones', n: 'end here; nothing was started (also Ctrl-C)' },
    onEnter: 'n',
    waitsForSilence: true,
  };
}

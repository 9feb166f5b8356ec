import type { Question } from '../../terminal/ask.ts';

// Every question before a session, so that they can be read together.

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

/** Where the agent works, at the first start of a project. `file`: where the answer is kept. */
export function modeQuestion(file: string): Question<'c' | 'o'> {
  return {
    text: 'On a copy, or on your own files?',
    about: [
      'On a copy the agent works without questions of its own. Its changes are judged and shown at the end, you choose which',
      'to apply, and undo reverses an apply. Before that, nothing of them can run on this machine.',
      'On your own files each edit is there at once: your editor, make or git may run it. Your .git is shielded, the agent',
      'asks before it acts, and changes that can run something are reported at the end.',
      `The answer is kept in ${file} for this project, and counts on a terminal. For one session: --copy or --bind.`,
    ],
    answers: { c: 'on a copy', o: 'on your own files' },
    onEnter: 'c',
    waitsForSilence: true,
  };
}

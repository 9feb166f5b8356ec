import type { Question } from '../../terminal/ask.ts';

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

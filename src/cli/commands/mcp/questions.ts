import type { Question } from '../../../terminal/ask.ts';

// Every question of these commands, so that they can be read together.

export function openLoginQuestion(): Question<'y' | 'n'> {
  return {
    text: 'Open it now?',
    about: ['The address above is the login page of the server. The login waits until you have finished there.'],
    answers: { y: 'open the address in your browser', n: 'open nothing; you can open the address yourself' },
    onEnter: 'n',
  };
}

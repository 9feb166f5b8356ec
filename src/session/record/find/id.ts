import { randomInt } from 'node:crypto';

// No vowels and no characters that look alike: ids are read aloud and typed.
const ALPHABET = '23456789bcdfghjkmnpqrstvwxz';

/**
 * A session's id, e.g. `261121-140512-k7p`: UTC date and time, and three random characters.
 * Valid in names of containers, volumes and networks.
 */
export function newSessionId(nowMs: number): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().slice(2, 19).split('T');
  let tail = '';
  for (let i = 0; i < 3; i++) tail += ALPHABET[randomInt(ALPHABET.length)];
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}-${tail}`;
}

/** Whether a word has the form of a session id. The session need not exist. */
export function isSessionId(word: string): boolean {
  return /^\d{6}-\d{6}-[2-9b-z]{3}$/.test(word);
}

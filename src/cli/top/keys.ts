import type { Key } from '../../terminal/full-screen.ts';

/** What the user chose so far. */
export interface TopChoice {
  /** Id of the marked session; undefined: the first. */
  readonly marked: string | undefined;
  readonly filter: string;
  /** What is typed behind '/'; undefined: nothing is being typed. */
  readonly typing: string | undefined;
  /** Sessions that are decided, too. */
  readonly showsAll: boolean;
  /** Id of the session that is asked about: stop it? */
  readonly asking: string | undefined;
}

export type TopAction =
  | { readonly kind: 'quit' }
  | { readonly kind: 'attach' | 'log' | 'diff' | 'stop'; readonly id: string };

export const NO_CHOICE: TopChoice = {
  marked: undefined,
  filter: '',
  typing: undefined,
  showsAll: false,
  asking: undefined,
};

const ACTION_KEYS: Readonly<Record<string, 'attach' | 'log' | 'diff'>> = {
  return: 'attach',
  enter: 'attach',
  r: 'attach',
  l: 'log',
  d: 'diff',
};

interface Pressed {
  readonly choice: TopChoice;
  readonly action?: TopAction;
}

/**
 * What a key does. Pure.
 *
 * @param ids of the sessions that match, in their order
 * @param page how many are shown
 */
export function pressKey(choice: TopChoice, key: Key, ids: readonly string[], page: number): Pressed {
  if (key.ctrl && key.name === 'c') return { choice, action: { kind: 'quit' } };
  if (choice.typing !== undefined) return { choice: typed(choice, choice.typing, key) };
  const { asking } = choice;
  const quiet = { ...choice, asking: undefined };
  if (asking !== undefined)
    return key.text.toLowerCase() === 'y' ? { choice: quiet, action: { kind: 'stop', id: asking } } : { choice: quiet };
  const at = Math.max(0, ids.indexOf(choice.marked ?? ''));
  const to = (place: number): Pressed => ({
    choice: { ...choice, marked: ids[Math.min(ids.length - 1, Math.max(0, place))] },
  });
  switch (key.name) {
    case 'up':
    case 'k':
      return to(at - 1);
    case 'down':
    case 'j':
      return to(at + 1);
    case 'pageup':
      return to(at - page);
    case 'pagedown':
      return to(at + page);
    case 'home':
      return to(0);
    case 'end':
      return to(ids.length - 1);
    case 'escape':
      return { choice: { ...choice, filter: '' } };
    case 'q':
      return { choice, action: { kind: 'quit' } };
    case 'a':
      return { choice: { ...choice, showsAll: !choice.showsAll } };
  }
  if (key.text === '/') return { choice: { ...choice, typing: choice.filter } };
  const id = ids[at];
  if (id === undefined) return { choice };
  if (key.name === 's') return { choice: { ...choice, asking: id } };
  const kind = Object.hasOwn(ACTION_KEYS, key.name) ? ACTION_KEYS[key.name] : undefined;
  return kind === undefined ? { choice } : { choice: { ...choice, marked: id }, action: { kind, id } };
}

function typed(choice: TopChoice, typing: string, { name, text }: Key): TopChoice {
  if (name === 'return' || name === 'enter') return { ...choice, typing: undefined, filter: typing };
  if (name === 'escape') return { ...choice, typing: undefined };
  if (name === 'backspace') return { ...choice, typing: [...typing].slice(0, -1).join('') };
  return { ...choice, typing: typing + text };
}

import { ON_BY_DEFAULT } from './filter-rules.ts';

/** Private modes that show the other screen. */
const SCREENS: readonly string[] = ['47', '1047', '1049'];

/** Remembers what passed sequences switched on, so that exactly that is switched off at the end. */
export interface ScreenState {
  /** Call with every sequence that was passed on. */
  note(sequence: string): void;
  /** Sequences that put the terminal back as it was, as far as the agent's output moved it. '' where it was text alone. */
  restore(): string;
  /** Sequences that set the modes, the other screen and the keyboard again that {@link restore} put back. */
  again(): string;
}

/** Levels of the keyboard's stack that are remembered. */
const MAX_PUSHED = 99;
/** What {@link ScreenState.again} sets again by the sequence that set it last. */
const SET_AGAIN = ['keypad', 'insert', 'keys', 'kitty', 'cursor'] as const;
type Touched = (typeof SET_AGAIN)[number] | 'region' | 'title' | 'link';

/** A screen that nobody has touched. Memory is bounded: modes come from an allowlist, all else is one sequence each. */
export function createScreenState(): ScreenState {
  let modes = new Map<string, boolean>();
  const touched = new Map<Touched, string>();
  // Terminals keep one stack of keyboard flags for each screen.
  const nothingPushed = () => ({ main: [] as string[], alternate: [] as string[] });
  let pushed = nothingPushed();

  const alternates = () => SCREENS.filter((mode) => modes.get(mode) === true);
  const here = () => (alternates().length > 0 ? 'alternate' : 'main');

  let isTouched = false;
  const note = (sequence: string): void => {
    isTouched = true;
    const body = sequence.slice(1);
    const mode = /^\[\?([\d;]+)([hl])$/.exec(body);
    if (mode) for (const one of (mode[1] ?? '').split(';')) modes.set(String(Number(one)), mode[2] === 'h');
    else if (body === 'c') {
      modes = new Map();
      touched.clear();
      pushed = nothingPushed();
    } else if (/^\[[\d;]*r$/.test(body)) touched.set('region', sequence);
    else if (/^\[\d* q$/.test(body)) touched.set('cursor', sequence);
    else if (/^\][012];/.test(body)) touched.set('title', sequence);
    else if (/^\]8;/.test(body)) touched.set('link', sequence);
    else if (/^[=>]$/.test(body)) touched.set('keypad', sequence);
    else if (body === '[4h') touched.set('insert', sequence);
    else if (/^\[>[\d;]*m$/.test(body)) touched.set('keys', sequence);
    else if (/^\[=[\d;]*u$/.test(body)) touched.set('kitty', sequence);
    else if (/^\[>[\d;]*u$/.test(body)) pushed[here()] = [...pushed[here()], sequence].slice(-MAX_PUSHED);
    else if (/^\[<[\d;]*u$/.test(body)) pushed[here()].splice(-(Number.parseInt(body.slice(2), 10) || 1));
  };

  const keyboard = (count: number): readonly string[] => [
    ...(count > 0 ? [`\x1b[<${count}u`] : []),
    ...(touched.has('kitty') ? ['\x1b[=0u'] : []),
    ...(touched.has('keys') ? ['\x1b[>4m'] : []),
  ];

  const restore = (): string => {
    if (!isTouched) return '';
    const undo: string[] = ['\x0f', '\x1b(B'];
    if (touched.has('link')) undo.push('\x1b]8;;\x07');
    if (touched.has('region')) undo.push('\x1b7', '\x1b[r', '\x1b8');
    for (const [mode, on] of modes) {
      if (SCREENS.includes(mode) || mode === '1048') continue;
      if (on !== ON_BY_DEFAULT.has(Number(mode))) undo.push(`\x1b[?${mode}${on ? 'l' : 'h'}`);
    }
    undo.push(...keyboard(pushed[here()].length));
    if (here() === 'alternate')
      undo.push(...alternates().map((mode) => `\x1b[?${mode}l`), ...keyboard(pushed.main.length));
    if (touched.has('insert')) undo.push('\x1b[4l');
    if (touched.has('keypad')) undo.push('\x1b>');
    if (touched.has('cursor')) undo.push('\x1b[0 q');
    if (touched.has('title')) undo.push('\x1b]2;\x07');
    undo.push('\x1b[0m', '\x1b[?25h');
    return undo.join('');
  };

  const again = (): string => {
    const redo: string[] = [...pushed.main];
    if (here() === 'alternate') redo.push(...alternates().map((mode) => `\x1b[?${mode}h`), ...pushed.alternate);
    for (const [mode, on] of modes) {
      if (SCREENS.includes(mode) || mode === '1048') continue;
      if (on !== ON_BY_DEFAULT.has(Number(mode))) redo.push(`\x1b[?${mode}${on ? 'h' : 'l'}`);
    }
    for (const what of SET_AGAIN) redo.push(touched.get(what) ?? '');
    return redo.join('');
  };

  return { note, restore, again };
}

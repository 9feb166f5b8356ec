import { ON_BY_DEFAULT } from './filter-rules.ts';

/** Private modes that show the other screen. */
const SCREENS: readonly string[] = ['47', '1047', '1049'];

/** Remembers what passed sequences switched on, so that exactly that is switched off at the end. */
export interface ScreenState {
  /** Call with every sequence that was passed on. */
  note(sequence: string): void;
  /** Sequences that put the terminal back as it was, as far as the agent's output moved it. */
  restore(): string;
}

/** A screen that nobody has touched. Memory is bounded: modes come from an allowlist, all else is a flag. */
export function createScreenState(): ScreenState {
  let modes = new Map<string, boolean>();
  const touched = new Set<'region' | 'cursor' | 'title' | 'link' | 'keypad' | 'insert' | 'keys' | 'kitty'>();
  // Terminals keep one stack of keyboard flags for each screen.
  let pushed = { main: 0, alternate: 0 };

  const alternates = () => SCREENS.filter((mode) => modes.get(mode) === true);
  const here = () => (alternates().length > 0 ? 'alternate' : 'main');

  const note = (sequence: string): void => {
    const body = sequence.slice(1);
    const mode = /^\[\?([\d;]+)([hl])$/.exec(body);
    if (mode) for (const one of (mode[1] ?? '').split(';')) modes.set(String(Number(one)), mode[2] === 'h');
    else if (body === 'c') {
      modes = new Map();
      touched.clear();
      pushed = { main: 0, alternate: 0 };
    } else if (/^\[[\d;]*r$/.test(body)) touched.add('region');
    else if (/^\[\d* q$/.test(body)) touched.add('cursor');
    else if (/^\][012];/.test(body)) touched.add('title');
    else if (/^\]8;/.test(body)) touched.add('link');
    else if (/^[=>]$/.test(body)) touched.add('keypad');
    else if (body === '[4h') touched.add('insert');
    else if (/^\[>[\d;]*m$/.test(body)) touched.add('keys');
    else if (/^\[=[\d;]*u$/.test(body)) touched.add('kitty');
    else if (/^\[>[\d;]*u$/.test(body)) pushed[here()] = Math.min(pushed[here()] + 1, 99);
    else if (/^\[<[\d;]*u$/.test(body)) pushed[here()] = Math.max(pushed[here()] - Number(body.slice(2, -1) || 1), 0);
  };

  const keyboard = (count: number): readonly string[] => [
    ...(count > 0 ? [`\x1b[<${count}u`] : []),
    ...(touched.has('kitty') ? ['\x1b[=0u'] : []),
    ...(touched.has('keys') ? ['\x1b[>4m'] : []),
  ];

  const restore = (): string => {
    const undo: string[] = ['\x0f', '\x1b(B'];
    if (touched.has('link')) undo.push('\x1b]8;;\x07');
    if (touched.has('region')) undo.push('\x1b7', '\x1b[r', '\x1b8');
    for (const [mode, on] of modes) {
      if (SCREENS.includes(mode) || mode === '1048') continue;
      if (on !== ON_BY_DEFAULT.has(Number(mode))) undo.push(`\x1b[?${mode}${on ? 'l' : 'h'}`);
    }
    undo.push(...keyboard(pushed[here()]));
    if (here() === 'alternate') undo.push(...alternates().map((mode) => `\x1b[?${mode}l`), ...keyboard(pushed.main));
    if (touched.has('insert')) undo.push('\x1b[4l');
    if (touched.has('keypad')) undo.push('\x1b>');
    if (touched.has('cursor')) undo.push('\x1b[0 q');
    if (touched.has('title')) undo.push('\x1b]2;\x07');
    undo.push('\x1b[0m', '\x1b[?25h');
    return undo.join('');
  };

  return { note, restore };
}

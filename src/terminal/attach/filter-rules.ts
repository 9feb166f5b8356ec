/** Why something in the agent's output was not passed on; counted by these names. */
export type DropReason = 'clipboard' | 'query' | 'printing' | 'window' | 'link' | 'device control' | 'other';

/** `sign`: a message of PID 1 to run-claude, which never reaches the terminal. */
export type Verdict = { readonly pass: string } | { readonly drop: DropReason } | { readonly sign: 'stopped' };

/** As images/init/init.c writes it when the agent's program has stopped. */
const STOPPED = '7077;stopped';

/**
 * DEC private modes that may be set. What is missing resizes the terminal (3, 40), makes it report by itself (2031), or
 * hangs some terminals (1001).
 */
export const PRIVATE_MODES: ReadonlySet<number> = new Set([
  1, 5, 6, 7, 8, 9, 12, 25, 45, 47, 66, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1047, 1048, 1049,
  2004, 2026, 2027,
]);

/** Private modes that are on in a terminal nobody has touched. */
export const ON_BY_DEFAULT: ReadonlySet<number> = new Set([7, 25]);

const CURSOR_AND_ERASE = 'ABCDEFGHIJKLMPSXZ`abdefgsru@';
const MAX_TITLE = 256;
const LINK = /^https?:\/\/[\x21-\x7e]{1,2000}$/;

/** Judges one complete control sequence: `prefix` is one of ''?<=>, `params` digits ; and : only. */
export function judgeCsi(prefix: string, params: string, intermediates: string, final: string): Verdict {
  const sequence = `\x1b[${prefix}${params}${intermediates}${final}`;
  const key = `${prefix}${intermediates}${final}`;
  if (key.length === 1 && CURSOR_AND_ERASE.includes(final)) return { pass: sequence };
  switch (key) {
    case 'm':
    case '?J':
    case '?K':
    case ' q':
    case '!p':
    // Keyboard protocols: how keys are distinguished. Undone at the end.
    case '>m':
    case '>u':
    case '<u':
    case '=u':
      return { pass: sequence };
    case 'T':
      // With five parameters xterm waits for the program, for ever.
      return /^\d*$/.test(params) ? { pass: sequence } : { drop: 'other' };
    case 'h':
    case 'l':
      return params === '4' ? { pass: sequence } : { drop: 'other' };
    case '?h':
    case '?l':
      return judgeModes(params, final);
    case 't':
      return /^2[23](;[012])?$/.test(params) ? { pass: sequence } : { drop: 'window' };
    case 'i':
    case '?i':
      return { drop: 'printing' };
    default:
      return { drop: 'ncxp'.includes(final) || /[?>][qumS]|\$p|\*y/.test(key) ? 'query' : 'other' };
  }
}

function judgeModes(params: string, final: string): Verdict {
  const kept = params.split(';').filter((mode) => PRIVATE_MODES.has(Number(mode)));
  return kept.length === 0 ? { drop: 'other' } : { pass: `\x1b[?${kept.join(';')}${final}` };
}

/** Judges an operating system command: its number and what follows. Only titles and web links pass, cleaned. */
export function judgeOsc(text: string): Verdict {
  if (text === STOPPED) return { sign: 'stopped' };
  const match = /^(\d{1,4})(?:;([\s\S]*))?$/.exec(text);
  const rest = match?.[2] ?? '';
  switch (match?.[1]) {
    case '0':
    case '1':
    case '2':
      return { pass: `\x1b]${match[1]};${rest.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').slice(0, MAX_TITLE)}\x07` };
    case '8':
      return judgeLink(rest);
    case '52':
      return { drop: 'clipboard' };
    default:
      return { drop: rest.includes('?') ? 'query' : 'other' };
  }
}

function judgeLink(rest: string): Verdict {
  const [params = '', ...parts] = rest.split(';');
  const target = parts.join(';');
  if (target === '') return { pass: '\x1b]8;;\x07' };
  if (!LINK.test(target)) return { drop: 'link' };
  const id = /(?:^|:)(id=[\w.-]{1,64})(?::|$)/.exec(params)?.[1] ?? '';
  return { pass: `\x1b]8;${id};${target}\x07` };
}

/** Judges an escape sequence that is neither of the above: `body` is what follows ESC. */
export function judgeEscape(body: string): Verdict {
  // Save and restore, line feeds, tab stops, keypad, full reset, alignment, and the three character sets in use.
  if (/^(?:[78DEMH=>c]|#8|[()*+][0AB])$/.test(body)) return { pass: `\x1b${body}` };
  if (body === '\\') return { pass: '' };
  return { drop: body === 'Z' ? 'query' : 'other' };
}

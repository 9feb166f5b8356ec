/**
 * The entries of Debian's `ncurses-base`, in every image. Its `ncurses-term` has neither xterm-ghostty, xterm-kitty nor
 * wezterm. `infocmp` of an unknown entry fails, and with it less, vim and tmux.
 */
export const KNOWN_TERMINALS = new Set(
  [
    'Eterm Eterm-color ansi cons25 cons25-debian cygwin dumb hurd linux mach mach-bold mach-color mach-gnu',
    'mach-gnu-color pcansi rxvt rxvt-basic rxvt-m rxvt-unicode rxvt-unicode-256color screen screen-256color',
    'screen-256color-bce screen-bce screen-s screen-w screen.xterm-256color sun tmux tmux-256color vt100 vt102',
    'vt220 vt52 wsvt25 wsvt25m xterm xterm-256color xterm-color xterm-debian xterm-mono xterm-r5 xterm-r6',
    'xterm-vt220 xterm-xfree86',
  ].flatMap((line) => line.split(' ')),
);

/** What the terminals of today emulate: ghostty, kitty, wezterm, alacritty, foot. */
const FALLBACK_TERMINAL = 'xterm-256color';

/** The value of TERM inside: the user's where the image knows it. */
export function terminalType(term: string | undefined): string {
  return term !== undefined && KNOWN_TERMINALS.has(term) ? term : FALLBACK_TERMINAL;
}

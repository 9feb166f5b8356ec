import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from '../core/host/programs/start-program.ts';
import type { Screen } from './screen.ts';

/**
 * Shows lines through the user's pager when they do not fit the screen, otherwise prints them to stderr. The lines
 * must be cleaned. The pager gets them on stdin, runs in `/` and cannot open, edit or run anything (LESSSECURE).
 */
export async function page(screen: Screen, lines: readonly string[]): Promise<void> {
  const text = `${lines.join('\n')}\n`;
  const argv = pagerCommand(screen.env['PAGER']);
  if (screen.dumb || lines.length < (screen.stderr.rows ?? 24) - 2 || argv === undefined) {
    screen.stderr.write(text);
    return;
  }
  const wasRaw = screen.stdin.isRaw;
  screen.stdin.setRawMode?.(false);
  const shown = await run(argv, text, screen);
  screen.stdin.setRawMode?.(wasRaw);
  if (!shown) screen.stderr.write(text);
}

/** argv of $PAGER, split at blanks without a shell; less by default; undefined when it is `cat` or empty. */
function pagerCommand(pager: string | undefined): readonly string[] | undefined {
  const words = (pager ?? 'less').split(/\s+/).filter((word) => word !== '');
  return words.length === 0 || words[0] === 'cat' ? undefined : words;
}

const PAGER_END_MS = 2_000;

/**
 * What less prints at the bottom of each page, in its language for prompts: the pager opens in the middle of questions, and
 * its own prompt does not say how it is left. A question mark, a colon, a full stop and a percent sign have a meaning there.
 */
const LESS_PROMPT = '-Psblank shows more, q goes on to the question$';

/** Ends the pager when the command is asked to end. Returns what undoes that. */
function endWith(child: ChildProcess, { interruption }: Screen): () => void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), PAGER_END_MS);
  };
  interruption?.signal.addEventListener('abort', end, { once: true });
  return () => {
    clearTimeout(timer);
    interruption?.signal.removeEventListener('abort', end);
  };
}

async function run(argv: readonly string[], text: string, screen: Screen): Promise<boolean> {
  const [command = 'less', ...args] = argv;
  const { LESSOPEN: _open, LESSCLOSE: _close, LESSKEY: _key, LESSEDIT: _edit, ...env } = screen.env;
  // Ctrl-C in the pager is the pager's.
  using _lent = screen.interruption?.lend();
  return await new Promise<boolean>((resolve) => {
    const child = spawn(command, args, {
      cwd: '/',
      env: { ...env, LESS: `-R ${LESS_PROMPT}`, LESSSECURE: '1', LESSHISTFILE: '-' },
      stdio: ['pipe', screen.stderr, 'inherit'],
    });
    const release = endWith(child, screen);
    child.once('error', () => {
      release();
      resolve(false);
    });
    child.once('close', (_status, signal) => {
      release();
      // It may have had no time to give the terminal back: cooked mode, the first screen, a cursor.
      if (signal !== null) {
        spawnSync('stty', ['sane'], { stdio: [screen.stdin, 'ignore', 'ignore'] });
        screen.stderr.write('\x1b[?1049l\x1b[?25h\n');
      }
      resolve(true);
    });
    // The pager may be left before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(text);
    if (screen.interruption?.signal.aborted) child.kill('SIGTERM');
  });
}

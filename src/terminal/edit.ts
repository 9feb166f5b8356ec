import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from '../core/host/programs/start-program.ts';
import type { Screen } from './screen.ts';

/** Editors look for settings (modelines) in the first and last lines of a file: comments keep content out of there. */
const COMMENT_LINES = 8;

/**
 * The text after the user has edited it in `$VISUAL` or `$EDITOR`, in a private directory outside any repository.
 * Undefined when the editor failed or the text is empty. `text` must be cleaned.
 */
export async function editText(screen: Screen, text: string, help: readonly string[]): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'run-claude-edit-'));
  try {
    const file = path.join(folder, 'part.txt');
    const above = [...help, ...Array<string>(Math.max(0, COMMENT_LINES - help.length)).fill('')];
    const comment = (lines: readonly string[]): string => lines.map((line) => `# ${line}`.trimEnd()).join('\n');
    const below = comment(Array<string>(COMMENT_LINES).fill(''));
    writeFileSync(file, `${comment(above)}\n${text}${below}\n`, { mode: 0o600 });
    const words = (screen.env['VISUAL'] ?? screen.env['EDITOR'] ?? 'vi').split(/\s+/).filter((word) => word !== '');
    const status = await runOnTerminal(screen, [...words, file], folder);
    const edited = readFileSync(file, 'utf8');
    const empty = edited.split('\n').every((line) => line === '' || line.startsWith('#'));
    return status === 0 && !empty ? edited : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one of the user's programs on the terminal, without a shell; its stdout is the screen. Returns its exit status. */
export async function runOnTerminal(screen: Screen, argv: readonly string[], cwd: string): Promise<number> {
  const [command = 'true', ...args] = argv;
  const wasRaw = screen.stdin.isRaw;
  screen.stdin.pause();
  screen.stdin.setRawMode?.(false);
  using _lent = screen.interruption?.lend();
  try {
    return await new Promise((resolve) => {
      const child = spawn(command, args, {
        cwd,
        env: { ...screen.env },
        stdio: ['inherit', screen.stderr, 'inherit'],
      });
      child.once('error', () => resolve(127));
      child.once('close', (status) => resolve(status ?? 1));
    });
  } finally {
    screen.stdin.setRawMode?.(wasRaw);
  }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runOnTerminal } from '../../../terminal/edit.ts';
import type { Screen } from '../../../terminal/screen.ts';

/**
 * Runs the user's difftool on two plain files with neutral names (`before`, `after`), in a private directory outside any
 * repository: no name, attribute or setting of the project reaches it. `command` is split at blanks, without a shell.
 * `$LOCAL` and `$REMOTE` are replaced by the files; without them the files are appended. Returns the exit status.
 */
export async function runDifftool(screen: Screen, command: string, before: Buffer, after: Buffer): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'run-claude-diff-'));
  try {
    // An empty folder as the working directory: some tools read settings from there.
    const empty = path.join(folder, 'empty');
    mkdirSync(empty, { mode: 0o700 });
    const files = { $LOCAL: path.join(folder, 'before'), $REMOTE: path.join(folder, 'after') };
    writeFileSync(files.$LOCAL, before, { mode: 0o400 });
    writeFileSync(files.$REMOTE, after, { mode: 0o400 });
    const words = command.split(/\s+/).filter((word) => word !== '');
    const named = words.some((word) => word.includes('$LOCAL') || word.includes('$REMOTE'));
    const filled = words.map((word) => word.replaceAll('$LOCAL', files.$LOCAL).replaceAll('$REMOTE', files.$REMOTE));
    return await runOnTerminal(screen, named ? filled : [...filled, files.$LOCAL, files.$REMOTE], empty);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

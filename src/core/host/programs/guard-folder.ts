import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shellWord } from '../../text/shell-word.ts';
import type { AgentFolders } from './agent-folders.ts';

const PREFIX = 'run-claude-path-';

export const isGuardFolder = (dir: string): boolean => path.basename(dir).startsWith(PREFIX);

/** The folders of this process by what they have. They are removed when it ends. */
const made = new Map<string, string>();

/**
 * A folder for the beginning of PATH, with a program for each name: one that starts the given file, or one that refuses
 * where there is none. Undefined where such a folder cannot be made, or an agent could write it.
 */
export function guardFolder(
  programs: ReadonlyMap<string, string | undefined>,
  folders: AgentFolders,
): string | undefined {
  const entries = [...programs].sort(([one], [other]) => (one < other ? -1 : 1));
  const key = JSON.stringify(entries.map(([name, file]) => [name, file ?? null]));
  const known = made.get(key);
  if (known !== undefined) return folders.resolve(known) === 'inside' ? undefined : known;
  let dir: string | undefined;
  try {
    dir = mkdtempSync(path.join(tmpdir(), PREFIX));
    const own = dir;
    if (made.size === 0) process.on('exit', removeAll);
    made.set(key, own);
    if (folders.resolve(own) === 'inside') return undefined;
    for (const [name, file] of entries) writeFileSync(path.join(own, name), scriptFor(name, file), { mode: 0o700 });
    return own;
  } catch {
    // A full disk, or no folder for temporary files.
    made.delete(key);
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    return undefined;
  }
}

function removeAll(): void {
  for (const dir of made.values()) rmSync(dir, { recursive: true, force: true });
}

/** The file is started under its own path: a program may look for its parts next to it. */
function scriptFor(name: string, file: string | undefined): string {
  if (file !== undefined) return `#!/bin/sh\nexec ${shellWord(file)} "$@"\n`;
  const why = `run-claude: ${name} is not started: it leads into a folder that an agent can write`;
  return `#!/bin/sh\nprintf '%s\\n' ${shellWord(why)} >&2\nexit 127\n`;
}

import { lstatSync } from 'node:fs';
import path from 'node:path';

/** What Claude Code reads in a project, and runs on the host what it names. */
const ACTING_FILES = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.claude/skills',
  '.claude/commands',
  '.claude/agents',
  '.mcp.json',
];

/**
 * The files that Claude Code obeys on the host where it starts in `start`, relative to that: those of each folder up to
 * the top of its repository. Those of `home` are the user's own.
 */
export function actingFiles(start: string, home: string): readonly string[] {
  return foldersUp(start)
    .filter((folder) => folder !== home)
    .flatMap((folder) => ACTING_FILES.map((name) => path.join(folder, name)))
    .filter(exists)
    .map((file) => path.relative(start, file));
}

/** `start` alone where it is in no repository: what is above is not the project's. */
function foldersUp(start: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = start; ; folder = path.dirname(folder)) {
    folders.push(folder);
    if (exists(path.join(folder, '.git'))) return folders;
    if (folder === path.dirname(folder)) return [start];
  }
}

/** A name that cannot be looked at (ENOTDIR, EACCES) is none that Claude Code reads. */
function exists(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

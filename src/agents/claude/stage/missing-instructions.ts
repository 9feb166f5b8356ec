import { access } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { readOwnFile } from '../instances/instance.ts';

/** Claude reads these of a project (Claude Code's documentation, "Manage Claude's memory"). */
const OF_PROJECT = ['CLAUDE.md', 'CLAUDE.local.md', '.claude/CLAUDE.md'];
/** Claude follows imports five files deep. */
const MAX_DEPTH = 5;
const MAX_FILES = 100;
const MAX_IMPORTS = 1000;
const MAX_BYTES = 1 << 20;
const MAX_NAMED = 8;
/** Characters of one path. */
const MAX_SHOWN = 120;

export interface InstructionPlaces {
  readonly home: string;
  /** Claude's configuration directory on the host, or that of a profile. */
  readonly configDir: string;
  /** Real path on the host. */
  readonly projectRoot: string;
  /** Whether a path, relative to the configuration directory, is in the session's home. */
  readonly isStaged: (path: string) => boolean;
}

/**
 * A line that names instructions which Claude reads on the host and a session does not have: files that a CLAUDE.md imports
 * (`@~/private.md`, `@../x.md`) from outside of the project, and a CLAUDE.md of a folder above it. Undefined where all are
 * there. Reads the project's own files and the user's, and of what they import only whether it exists.
 */
export async function missingInstructions(places: InstructionPlaces): Promise<string | undefined> {
  const { home, configDir, projectRoot, isStaged } = places;
  const missing = new Map<string, string>();
  const open = [
    ...OF_PROJECT.map((name) => ({ file: join(projectRoot, name), depth: 0 })),
    { file: join(configDir, 'CLAUDE.md'), depth: 0 },
  ];
  const seen = new Set<string>();
  let left = MAX_IMPORTS;
  for (let next = open.shift(); next !== undefined && seen.size < MAX_FILES; next = open.shift()) {
    const { file, depth } = next;
    if (seen.has(file)) continue;
    seen.add(file);
    const content = await readOwnFile(file, MAX_BYTES);
    for (const path of content === undefined ? [] : importsIn(content.toString('utf8'))) {
      if (left-- <= 0) break;
      const target = path.startsWith('~/') ? join(home, path.slice(2)) : resolve(dirname(file), path);
      const ofConfig = below(configDir, target);
      if (below(projectRoot, target) !== undefined || (ofConfig !== undefined && isStaged(ofConfig))) {
        if (depth < MAX_DEPTH) open.push({ file: target, depth: depth + 1 });
      } else if (!missing.has(target) && (await exists(target))) {
        missing.set(target, `${shown(path)} (${basename(file)} imports it)`);
      }
    }
  }
  for (let dir = dirname(projectRoot); dir !== dirname(dir); dir = dirname(dir)) {
    const file = join(dir, 'CLAUDE.md');
    if (await exists(file)) missing.set(file, below(home, file) === undefined ? file : `~/${below(home, file)}`);
  }
  if (missing.size === 0) return undefined;
  const named = [...missing.values()];
  const more = named.length > MAX_NAMED ? ` and ${named.length - MAX_NAMED} more` : '';
  return `Instructions outside of the project, which Claude does not have inside: ${named.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** The paths that `@` imports in Markdown, outside of code. */
function importsIn(markdown: string): string[] {
  const text = markdown.replace(/^ {0,3}(```|~~~).*?(^ {0,3}\1|$(?![\s\S]))/gms, '').replace(/`[^`\n]*`/g, '');
  const words = [...text.matchAll(/(?:^|\s)@((?:[^\s\\]|\\ ){1,1000})/g)];
  return words.flatMap(([, word = '']) => {
    const path = word.replaceAll('\\ ', ' ').replace(/#.*$/, '');
    return /^(\.{1,2}\/|~\/|\/.|[\w.-])/.test(path) ? [path] : [];
  });
}

/** A path as it was written, without the folders that it leaves again: their names could say anything, and need not exist. */
function shown(path: string): string {
  const plain = normalize(path);
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain;
}

/** The path relative to a folder; undefined for one that is not in it. */
function below(folder: string, path: string): string | undefined {
  const found = relative(folder, path);
  return found === '' || found === '..' || found.startsWith('../') || isAbsolute(found) ? undefined : found;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

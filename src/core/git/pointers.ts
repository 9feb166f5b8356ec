import path from 'node:path';
import { isInDotGit } from './names.ts';

/** The directories of the host that a copy contains and that a pointer of git may name. */
export interface CopiedPlaces {
  /** The project. */
  readonly root: string;
  /** The directories that its `.git` is put together from in the copy, the winning one first; undefined: its own. */
  readonly dotGit: ReadonlyArray<{ readonly source: string; readonly without: readonly string[] }> | undefined;
}

/** The project's path in every container. */
const INSIDE = '/workspace';
const FORWARD = /^gitdir: ([^\r\n]+)[\r\n]*$/;
const BACK = /^([^\r\n]+)[\r\n]*$/;

/**
 * The text that a `.git` file, or `gitdir` of a linked worktree, has in the copy at `entry`, when the host has it in the
 * directory `from`. Where it leads to a place that is copied, it leads there; else it stays as it is. The first is made
 * relative; the second absolute, as git before 2.48 reads it only so.
 */
export function rewritePointer(entry: string, text: string, from: string, places: CopiedPlaces): string {
  const back = path.posix.basename(entry) === 'gitdir';
  const named = (back ? BACK : FORWARD).exec(text)?.[1];
  const place = named === undefined ? undefined : placeInCopy(path.posix.resolve(from, named), places);
  if (named === undefined || place === undefined) return text;
  const dir = path.posix.dirname(entry);
  if (back) return isInDotGit(entry) && isInDotGit(place) ? `${INSIDE}/${place}\n` : text;
  // A repository of another name is the project's content: git at work there would be changes to it.
  if (!isInDotGit(place) || path.posix.join(dir, named) === place) return text;
  return `gitdir: ${path.posix.relative(dir, place)}\n`;
}

/**
 * What core.worktree of the configuration at `entry` is in the copy, where the host has it in the directory `from`;
 * undefined where it leads out of the copy.
 */
export function rewriteWorkTree(entry: string, value: string, from: string, places: CopiedPlaces): string | undefined {
  const place = value === '' ? undefined : placeInCopy(path.posix.resolve(from, value), places);
  // A work tree inside git's own directory is none that a copy is made for.
  if (place === undefined || isInDotGit(place)) return undefined;
  return path.posix.relative(path.posix.dirname(entry), place) || '.';
}

/** Whether the configuration at `entry` is the one that a project's linked work tree shares with the main one. */
export function isOfMainTree(entry: string, from: string, { dotGit }: CopiedPlaces): boolean {
  return entry === '.git/config' && dotGit?.[0] !== undefined && dotGit.length > 1 && dotGit[0].source !== from;
}

/** The path in the copy of a path on the host, by names alone; whether it exists is not checked. */
function placeInCopy(target: string, { root, dotGit }: CopiedPlaces): string | undefined {
  for (const { source, without } of dotGit ?? []) {
    const inner = below(source, target);
    if (inner !== undefined && !without.includes(inner.split('/')[0] as string)) return path.posix.join('.git', inner);
  }
  const inner = below(root, target);
  return dotGit !== undefined && inner?.split('/')[0] === '.git' ? undefined : inner;
}

function below(dir: string, target: string): string | undefined {
  if (target === dir) return '';
  return target.startsWith(`${dir}/`) ? target.slice(dir.length + 1) : undefined;
}

import { lstatSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Graft } from './list-directories.ts';

/** What belongs to one worktree, not to the repository that it shares (gitrepository-layout(5)). */
const OF_A_WORKTREE = [
  'HEAD',
  'index',
  'ORIG_HEAD',
  'FETCH_HEAD',
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'MERGE_MSG',
  'MERGE_MODE',
  'AUTO_MERGE',
  'COMMIT_EDITMSG',
  'config.worktree',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
  'worktrees',
  'gitdir',
];
const POINTERS = ['commondir', 'gitdir', 'locked'];

/**
 * Where the content of `.git` comes from when it is a file: the copy gets a self-contained directory, put together
 * from the linked worktree's own and the shared one, or the submodule's. Empty when `.git` is a directory or absent.
 */
export function gitGrafts(project: string): ReadonlyMap<string, readonly Graft[]> {
  const own = gitDirOf(project);
  if (own === undefined || own === path.join(project, '.git')) return new Map();
  const common = readText(path.join(own, 'commondir'));
  const grafts: Graft[] = [{ source: own, without: POINTERS }];
  if (common !== undefined) grafts.push({ source: path.resolve(own, common.trim()), without: OF_A_WORKTREE });
  return new Map([['.git', grafts]]);
}

/** The directory that a project's `.git` is or names; undefined when there is none. */
export function gitDirOf(project: string): string | undefined {
  const file = path.join(project, '.git');
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return file;
  if (stat === undefined || !stat.isFile() || stat.size > 65_536) return undefined;
  const pointer = /^gitdir: ([^\n]+)\n?$/.exec(readFileSync(file, 'utf8'))?.[1];
  const own = pointer === undefined ? undefined : path.resolve(project, pointer);
  return own !== undefined && isDirectory(own) ? own : undefined;
}

function isDirectory(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readText(file: string): string | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size < 65_536 ? readFileSync(file, 'utf8') : undefined;
}

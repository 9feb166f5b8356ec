/**
 * Entries of git's directory that all work trees of a repository share (git's path.c, common_list), and those of git-lfs
 * and git-annex. Every other entry of the directory belongs to the main work tree alone.
 */
const SHARED: ReadonlySet<string> = new Set(
  `annex branches common config description hooks info lfs logs lost-found modules objects packed-refs refs reftable
   remotes rr-cache shallow svn worktrees`.split(/\s+/),
);

/** What belongs to one work tree in directories that are shared, by directory. */
export const PRIVATE_IN_SHARED: ReadonlyMap<string, readonly string[]> = new Map([
  ['info', ['sparse-checkout']],
  ['logs', ['HEAD']],
  ['logs/refs', ['bisect', 'rewritten', 'worktree']],
  ['refs', ['bisect', 'rewritten', 'worktree']],
]);

/** Whether a linked work tree uses the entry of that name in the directory that it shares. */
export function isSharedEntry(name: string): boolean {
  return SHARED.has(name);
}

const OBJECTS = /^(modules\/.+\/)?objects(\/(pack|info|[0-9a-f]{2}))?$/;
const LISTS = /^(modules\/.+)?$/;

/**
 * Whether an entry of git's directory is the state of a git that runs, or was killed: a lock, or a file that it is
 * writing. In a copy it would stop every later command, and no git there would remove it. `dir`: from git's directory,
 * '' for itself.
 */
export function isRunningState(dir: string, name: string, isDirectory: boolean): boolean {
  // A submodule or a work tree may have any name; no ref ends in `.lock`.
  if (!isDirectory && (name.endsWith('.lock') || name === 'gc.pid')) return true;
  if (OBJECTS.test(dir)) return /^(tmp_|\.tmp-)/.test(name);
  return (
    !isDirectory && LISTS.test(dir) && /^(packed-refs\.new|index\.stash\.\d+|(shallow|sharedindex)_\w{6})$/.test(name)
  );
}

/** Whether an entry of git's directory is the ref or the log of stashes: work that its owner has put aside, not history. */
export function isStash(dir: string, name: string): boolean {
  return name === 'stash' && /^(?:modules\/.+\/)?(?:logs\/)?refs$/.test(dir);
}

/** `packed-refs` without the ref of stashes, and without the commit that a line below it peels. */
export function withoutPackedStash(text: string): string {
  return text.replace(/^[0-9a-f]+ refs\/stash\n(?:\^[0-9a-f]+\n)?/m, '');
}

/** A directory from the innermost directory of git that it is in; undefined where it is in none. */
export function insideGit(dir: string): string | undefined {
  // Nearly every directory needs only this test.
  if (!dir.includes('.git')) return undefined;
  const parts = dir.split('/');
  const at = parts.lastIndexOf('.git');
  return at < 0 ? undefined : parts.slice(at + 1).join('/');
}

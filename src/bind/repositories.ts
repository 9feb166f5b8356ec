import { isDotGitName } from '../git/names.ts';
import type { Seen } from './walk.ts';

// What git writes there in every day's work and never runs, as files and as folders. All else in a repository can make
// git run or read something, or is not known, and is watched; so is a link of any name, which brings other content.
const HARMLESS_FILE =
  /^(HEAD|ORIG_HEAD|FETCH_HEAD|MERGE_(HEAD|MSG|MODE|RR)|CHERRY_PICK_HEAD|REVERT_HEAD|AUTO_MERGE|COMMIT_EDITMSG|SQUASH_MSG|index|packed-refs|shallow|description|(refs|logs|rr-cache)\/.*|objects\/(?!info\/(http-)?alternates$).*)$/;
const HARMLESS_FOLDER = /^(refs|logs|rr-cache|objects)(\/.*)?$|^(info|hooks)$/;

/** Where git would find a repository: the path of each `.git` (a directory, file or link), and of each bare one. */
export function findRepositories(entries: ReadonlyMap<string, Seen>): Set<string> {
  const found = new Set<string>();
  for (const [path, seen] of entries) {
    const cut = path.lastIndexOf('/');
    const name = path.slice(cut + 1);
    if (isDotGitName(name)) found.add(path);
    else if (name === 'HEAD' && seen.kind !== 'dir' && cut !== -1) {
      const dir = path.slice(0, cut);
      if (isRepositoryAt(dir, entries)) found.add(dir);
    }
  }
  for (const path of found) if (insideAnother(path, found)) found.delete(path);
  return found;
}

/** git's own test for a bare repository (setup.c, is_git_directory): HEAD, objects, refs; or commondir for the two. */
export function isRepositoryAt(dir: string, entries: ReadonlyMap<string, Seen>): boolean {
  const has = (part: string): boolean => entries.has(dir === '' ? part : `${dir}/${part}`);
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/** The repository of `repositories` that a path lies in (or is). */
export function repositoryOf(path: string, repositories: ReadonlySet<string>): string | undefined {
  if (repositories.has(path)) return path;
  for (let cut = path.lastIndexOf('/'); cut !== -1; cut = path.lastIndexOf('/', cut - 1)) {
    const above = path.slice(0, cut);
    if (repositories.has(above)) return above;
    if (cut === 0) break;
  }
  return undefined;
}

/** Whether an entry of a repository is one that git may run, or take orders from. */
export function isExecutablePart(path: string, kind: Seen['kind'], repository: string): boolean {
  if (path === repository) return true;
  const inner = path.slice(repository.length + 1);
  if (kind === 'file') return !HARMLESS_FILE.test(inner);
  return kind !== 'dir' || !HARMLESS_FOLDER.test(inner);
}

function insideAnother(path: string, found: ReadonlySet<string>): boolean {
  const cut = path.lastIndexOf('/');
  return cut > 0 && repositoryOf(path.slice(0, cut), found) !== undefined;
}

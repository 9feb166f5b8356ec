import { isDotGitName } from '../git/names.ts';
import type { HostEntry } from './scan-project.ts';

// What git writes to a repository in daily work and never executes, as files and as folders. Any other entry can make git
// run or read something, or is unknown, and is watched. So is a link of any name, since it brings other content.
const HARMLESS_FILE =
  /^(HEAD|ORIG_HEAD|FETCH_HEAD|MERGE_(HEAD|MSG|MODE|RR)|CHERRY_PICK_HEAD|REVERT_HEAD|AUTO_MERGE|COMMIT_EDITMSG|SQUASH_MSG|index|packed-refs|shallow|description|(refs|logs|rr-cache)\/.*|objects\/(?!info\/(http-)?alternates$).*)$/;
const HARMLESS_FOLDER = /^(refs|logs|rr-cache|objects)(\/.*)?$|^(info|hooks)$/;

/** The paths at which git would find a repository: of each `.git` (a directory, file or link) and of each bare one. */
export function findRepositories(entries: ReadonlyMap<string, HostEntry>): Set<string> {
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
  for (const path of found) if (isInsideAnother(path, found)) found.delete(path);
  return found;
}

/** git's own test for a bare repository (setup.c, is_git_directory): HEAD, and either objects and refs or commondir. */
export function isRepositoryAt(dir: string, entries: ReadonlyMap<string, HostEntry>): boolean {
  const has = (part: string): boolean => entries.has(dir === '' ? part : `${dir}/${part}`);
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/** Which of `repositories` contains a path, or is the path; undefined when none does. */
export function repositoryOf(path: string, repositories: ReadonlySet<string>): string | undefined {
  if (repositories.has(path)) return path;
  for (let cut = path.lastIndexOf('/'); cut !== -1; cut = path.lastIndexOf('/', cut - 1)) {
    const above = path.slice(0, cut);
    if (repositories.has(above)) return above;
    if (cut === 0) break;
  }
  return undefined;
}

/** Whether git may execute an entry of a repository, or take its configuration from it. */
export function isExecutablePart(path: string, kind: HostEntry['kind'], repository: string): boolean {
  if (path === repository) return true;
  const inner = path.slice(repository.length + 1);
  if (kind === 'file') return !HARMLESS_FILE.test(inner);
  return kind !== 'dir' || !HARMLESS_FOLDER.test(inner);
}

function isInsideAnother(path: string, found: ReadonlySet<string>): boolean {
  const cut = path.lastIndexOf('/');
  return cut > 0 && repositoryOf(path.slice(0, cut), found) !== undefined;
}

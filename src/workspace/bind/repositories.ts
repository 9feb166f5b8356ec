import { isDotGitName } from '../../core/git/names.ts';
import { nameOfPath, parentPath } from '../../core/text/path.ts';
import type { HostEntry } from './scan-project.ts';

// What git writes to a repository in daily work and never executes, as files and as folders. Any other entry can make git
// run or read something, or is unknown, and is watched: also a name with a line break, which git never writes. So is a
// link of any name, since it brings other content.
const HEADS = ['HEAD', 'ORIG_HEAD', 'FETCH_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'AUTO_MERGE'];
const MESSAGES = ['COMMIT_EDITMSG', 'MERGE_MSG', 'SQUASH_MSG', 'MERGE_MODE', 'MERGE_RR'];
const LISTS = ['index', 'packed-refs', 'shallow', 'description'];
const DATA_FOLDERS = ['refs', 'logs', 'rr-cache'];
const HARMLESS_FILES: ReadonlySet<string> = new Set([...HEADS, ...MESSAGES, ...LISTS]);
const IN_DATA_FOLDER = new RegExp(`^(${DATA_FOLDERS.join('|')})/.*$`);
/** Alternates name the objects of other repositories. */
const IN_OBJECTS = /^objects\/(?!info\/(http-)?alternates$).*$/;
/** The objects of a submodule. Names in full: a submodule may itself be named `objects`. */
const MODULE_OBJECT =
  /^modules\/.+\/objects\/([0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/(pack-[0-9a-f]+|multi-pack-index)[.\w-]*)$/;
const HARMLESS_FOLDER = new RegExp(`^(${[...DATA_FOLDERS, 'objects'].join('|')})(/.*)?$|^(info|hooks)$`);

/** The paths at which git would find a repository: of each `.git` (a directory, file or link) and of each bare one. */
export function findRepositories(entries: ReadonlyMap<string, HostEntry>): Set<string> {
  const found = new Set<string>();
  for (const [path, seen] of entries) {
    const name = nameOfPath(path);
    if (isDotGitName(name)) found.add(path);
    else if (name === 'HEAD' && seen.kind !== 'dir') {
      const dir = parentPath(path);
      if (dir !== '' && isRepositoryAt(dir, entries)) found.add(dir);
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
  const parent = parentPath(path);
  return parent === '' ? undefined : repositoryOf(parent, repositories);
}

/** Whether git may execute an entry of a repository, or take its configuration from it. */
export function isExecutablePart(path: string, kind: HostEntry['kind'], repository: string): boolean {
  if (path === repository) return true;
  const inner = path.slice(repository.length + 1);
  if (kind === 'file') return !isHarmlessFile(inner);
  return kind !== 'dir' || !HARMLESS_FOLDER.test(inner);
}

function isHarmlessFile(inner: string): boolean {
  return HARMLESS_FILES.has(inner) || IN_DATA_FOLDER.test(inner) || IN_OBJECTS.test(inner) || MODULE_OBJECT.test(inner);
}

function isInsideAnother(path: string, found: ReadonlySet<string>): boolean {
  const parent = parentPath(path);
  return parent !== '' && repositoryOf(parent, found) !== undefined;
}

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { parseConfig } from '../../core/git/config-parse.ts';
import type { ProjectFacts } from '../../core/types/plan.ts';
import { commonDirOf, gitDirOf } from '../../workspace/scan/git/git-grafts.ts';
import { hostGit, hostTips } from './host-git.ts';

/** A repository of the user's that a session has a copy of. */
export interface Repository {
  /** Its work tree, from the project; '' for the project's own. */
  readonly path: string;
  /** Its git directory in the copy, from the project. */
  readonly inside: string;
  /** Directory of this machine in which git finds it. */
  readonly place: string;
}

/** With the newest commits of the user's in it: what they reach is not the session's. */
export interface KnownRepository extends Repository {
  readonly known: readonly string[];
}

const MAX_REPOSITORIES = 200;
/** Of all repositories together: they are arguments of one program. */
const MAX_TIPS = 10_000;

/**
 * The repositories that commits of a session can come back to, submodules and nested ones before those that contain them.
 * `mode`: of the session. In bind mode only git directories that the agent could not write to are taken: those of the
 * project and its submodules. `nested`: folders that may be nested repositories; undefined: the project is searched.
 */
export function findRepositories(
  { root, git }: Pick<ProjectFacts, 'root' | 'git'>,
  mode: 'copy' | 'bind',
  nested?: Iterable<string>,
): readonly Repository[] {
  const found: Repository[] = [];
  const own = git === 'directory' || git === 'file' ? gitDirOf(root) : undefined;
  if (own !== undefined) {
    add(found, { path: '', inside: '.git', place: root }, own);
    addModules(found, root, modulesOf(own), '.git/modules');
  }
  if (mode === 'copy') for (const at of nested ?? foldersWithGit(root)) addNested(found, root, at);
  const depthOf = (one: Repository): number => (one.path === '' ? 0 : one.path.split('/').length);
  return found.sort((a, b) => depthOf(b) - depthOf(a) || (a.path < b.path ? -1 : 1));
}

/** Adds what the user's repositories have. Throws COMMITS_REFUSED where git cannot read their refs. */
export function withKnownCommits(repositories: readonly Repository[]): readonly KnownRepository[] {
  const each = Math.floor(MAX_TIPS / Math.max(1, repositories.length));
  return repositories.map((one) => ({ ...one, known: hostTips(one.place, each) }));
}

function addNested(found: Repository[], root: string, at: string): void {
  const place = path.join(root, at);
  // An agent may have named it: a link in its place could lead anywhere.
  if (!isDirectory(path.join(place, '.git')) || realpathSync(place) !== place) return;
  add(found, { path: at, inside: `${at}/.git`, place }, path.join(place, '.git'));
  addModules(found, root, path.join(place, '.git', 'modules'), `${at}/.git/modules`);
}

/** Unless git would find another repository at that place, or none. */
function add(found: Repository[], repository: Repository, gitDir: string): void {
  if (found.length < MAX_REPOSITORIES && gitDirAt(repository.place) === realpathSync(gitDir)) found.push(repository);
}

function gitDirAt(place: string): string | undefined {
  try {
    return realpathSync(hostGit(place, ['rev-parse', '--absolute-git-dir']).toString().replace(/\n$/, ''));
  } catch (error) {
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}

/** Where a linked work tree has no submodules of its own, the copy has those of the shared directory. */
function modulesOf(own: string): string {
  const modules = path.join(own, 'modules');
  return isDirectory(modules) ? modules : path.join(commonDirOf(own), 'modules');
}

/** The name of a submodule may have slashes: its repository is at any depth. */
function addModules(found: Repository[], root: string, dir: string, inside: string): void {
  if (!isDirectory(dir)) return;
  if (!isRepository(dir)) {
    for (const name of foldersIn(dir)) addModules(found, root, path.join(dir, name), `${inside}/${name}`);
    return;
  }
  const work = workTreeOf(dir);
  const at = work === undefined ? '' : path.relative(root, work);
  // Without its work tree git refuses to work in it.
  if (work !== undefined && at !== '' && !at.startsWith('..') && isDirectory(work)) {
    add(found, { path: at, inside, place: dir }, dir);
  }
  addModules(found, root, path.join(dir, 'modules'), `${inside}/modules`);
}

function workTreeOf(gitDir: string): string | undefined {
  const { entries } = parseConfig(readFileSync(path.join(gitDir, 'config'), 'utf8'));
  const named = entries.findLast(({ key }) => key === 'core.worktree')?.value;
  return named === undefined ? undefined : path.resolve(gitDir, named);
}

/** git's own test (setup.c, is_git_directory), for a directory that a session's copy has in full. */
function isRepository(dir: string): boolean {
  return ['objects', 'refs'].every((name) => isDirectory(path.join(dir, name))) && existsSync(path.join(dir, 'config'));
}

/** Folders below the project that have a directory `.git`. Links are not followed. */
function* foldersWithGit(root: string): Generator<string> {
  const open = [''];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const name of foldersIn(path.join(root, at))) {
      if (name !== '.git') open.push(at === '' ? name : `${at}/${name}`);
      else if (at !== '') yield at;
    }
  }
}

/** Folders whose names are UTF-8. One that cannot be read has none. */
function foldersIn(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.flatMap((one) => (one.isDirectory() && !one.name.includes('\ufffd') ? [one.name] : [])).sort();
  } catch {
    return [];
  }
}

function isDirectory(dir: string): boolean {
  return statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true;
}

import { existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { COPY_MODE, RunClaudeError } from '../../core/errors.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { BoundGit } from '../../core/types/session.ts';
import { makePrivateGit, writeMounted } from './private-git.ts';

/** Path of the repository in the container when the project's `.git` is a file. */
const INSIDE_REPOSITORY = '/run/run-claude/git';
const AT_PROJECT = '/workspace/.git';
/** Path in the container where the user's objects are mounted, read-only. */
const INSIDE_OBJECTS = '/run/run-claude/objects';
/** Where git-lfs looks for the objects of a repository whose git objects are mounted there. The image's filter knows it. */
const INSIDE_LFS_OBJECTS = `${INSIDE_OBJECTS}/lfs/objects`;

export interface BindGit {
  readonly mounts: readonly Mount[];
  /** Configuration keys that the agent's copy does not have, to be shown. */
  readonly dropped: readonly string[];
  /** For the record: what a later command needs to read the commits. Absent where the project has no `.git`. */
  readonly bound?: BoundGit;
}

/**
 * The mounts that keep a project's `.git` out of the agent's reach and give the agent a repository of the session's own,
 * in which it can commit. Refs, index and state are copied; objects are read from the user's, which are mounted read-only.
 *
 * Where `.git` is a directory, the session's repository is mounted over it: a mount point cannot be renamed or removed.
 * Where it is a file, a read-only file is mounted over it that names the session's repository, and over those of its
 * submodules. Where there is none, nothing is mounted, since the mount point would be created on the host.
 *
 * @throws {RunClaudeError} BIND_GIT_LINK where `.git` is a link or a special file; BIND_GIT_LOST where it is a file that
 * names no repository.
 */
export function shieldGit(plan: Plan): BindGit {
  const dotGit = path.join(plan.project.root, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return { mounts: [], dropped: [] };
  if (!stat.isDirectory() && !stat.isFile()) {
    throw new RunClaudeError('BIND_GIT_LINK', `${dotGit} is a link or a special file, which bind mode cannot shield`, {
      hint: `Use ${COPY_MODE}.`,
    });
  }
  const { bound, dropped, submodules } = makePrivateGit(plan, dotGit, sessionGit(plan.sessionDir), INSIDE_OBJECTS);
  const repository = bindMount(
    sessionGit(plan.sessionDir),
    stat.isDirectory() ? AT_PROJECT : INSIDE_REPOSITORY,
    'writable',
  );
  const objects = objectMounts(plan.sessionDir, bound);
  if (stat.isDirectory()) return { mounts: [repository, ...objects], dropped, bound };
  const gitFile = writeMounted(plan.sessionDir, 'gitfile', `gitdir: ${INSIDE_REPOSITORY}\n`);
  // The user's files name places that the container does not have.
  const gitFiles = submodules.map(({ at, repository: inner }, number) => {
    const file = writeMounted(plan.sessionDir, `gitfile-${number}`, `gitdir: ${INSIDE_REPOSITORY}/${inner}\n`);
    return bindMount(file, `/workspace/${at}/.git`);
  });
  return { mounts: [repository, bindMount(gitFile, AT_PROJECT), ...gitFiles, ...objects], dropped, bound };
}

/** The mounts of a session that is not started. Repositories whose objects the project's borrows are not known then. */
export function plannedGitMounts({ project, sessionDir }: Plan): Mount[] {
  const common = project.gitCommonDir;
  if ((project.git !== 'directory' && project.git !== 'file') || common === undefined) return [];
  const directory = project.git === 'directory';
  return [
    bindMount(sessionGit(sessionDir), directory ? AT_PROJECT : INSIDE_REPOSITORY, 'writable'),
    ...(directory ? [] : [bindMount(path.join(sessionDir, 'bind', 'gitfile'), AT_PROJECT)]),
    bindMount(path.join(common, 'objects'), `${INSIDE_OBJECTS}/0`),
    ...lfsMounts(path.join(common, 'objects')),
  ];
}

/** The session's repository as a workspace, for the container that bundles its commits. */
export function boundRepositoryMounts(sessionDir: string, bound: BoundGit): Mount[] {
  return [bindMount(sessionGit(sessionDir), AT_PROJECT), ...objectMounts(sessionDir, bound)];
}

/** The directory of the session's repository. It counts as the session's layer: kept as long, removed by the same code. */
export function sessionGit(sessionDir: string): string {
  return path.join(sessionDir, 'layer', 'git');
}

function objectMounts(sessionDir: string, { objects }: BoundGit): Mount[] {
  const mounts = objects.flatMap((source, at) => {
    const target = `${INSIDE_OBJECTS}/${at}`;
    const mount = bindMount(source, target);
    if (!existsSync(path.join(source, 'info', 'alternates'))) return [mount];
    // The session's own list names what is borrowed; this one has paths of the host.
    const empty = writeMounted(sessionDir, 'no-alternates', '');
    return [mount, bindMount(empty, `${target}/info/alternates`)];
  });
  const [own] = objects;
  return own === undefined ? mounts : [...mounts, ...lfsMounts(own)];
}

/** Without them a checkout inside would put pointers in place of the user's files. `objects`: of the project's repository. */
function lfsMounts(objects: string): Mount[] {
  const source = path.join(path.dirname(objects), 'lfs', 'objects');
  const isThere = lstatSync(source, { throwIfNoEntry: false })?.isDirectory() === true;
  return isThere ? [bindMount(source, INSIDE_LFS_OBJECTS)] : [];
}

function bindMount(source: string, target: string, access: 'read-only' | 'writable' = 'read-only'): Mount {
  return { kind: 'bind', source, target, readonly: access === 'read-only' };
}

import { existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import type { Mount } from '../types/engine.ts';
import type { Plan } from '../types/plan.ts';
import type { BoundGit } from '../types/session.ts';
import { makePrivateGit, writeOwn } from './private-git.ts';

/** Where a repository lies inside when the project's `.git` is a file. */
const INSIDE_REPOSITORY = '/run/run-claude/git';
const AT_PROJECT = '/workspace/.git';
/** Where the person's objects are mounted, read-only. */
const INSIDE_OBJECTS = '/run/run-claude/objects';

export interface BindGit {
  readonly mounts: readonly Mount[];
  /** What the agent's copy of the configuration does not have, for people. */
  readonly dropped: readonly string[];
  /** For the record: what a later command needs to read the commits. Absent where the project has no `.git`. */
  readonly bound?: BoundGit;
}

/**
 * The mounts that keep a project's `.git` out of the agent's reach and give it one of the session's own, in which it
 * can commit: refs, index and state are copied, objects are read from the person's, which are mounted read-only. A
 * directory: ours is a mount point over it (which cannot be renamed or removed). A file: a read-only one of ours that
 * names the session's repository. Nothing: nothing, since a mount point would be created on the host.
 *
 * @throws RunClaudeError BIND_GIT_LINK where it is a link or something else, BIND_GIT_LOST where a file leads nowhere.
 */
export function shieldGit(plan: Plan): BindGit {
  const dotGit = path.join(plan.project.root, '.git');
  const stat = lstatSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return { mounts: [], dropped: [] };
  if (!stat.isDirectory() && !stat.isFile()) {
    throw new RunClaudeError('BIND_GIT_LINK', `${dotGit} is a link or a special file, which bind mode cannot shield`, {
      hint: 'Use --copy-workspace.',
    });
  }
  const made = makePrivateGit(plan, dotGit, sessionGit(plan.sessionDir), INSIDE_OBJECTS);
  const { dropped, ...bound } = made;
  const repository = bindMount(
    sessionGit(plan.sessionDir),
    stat.isDirectory() ? AT_PROJECT : INSIDE_REPOSITORY,
    'writable',
  );
  const objects = objectMounts(plan.sessionDir, bound);
  if (stat.isDirectory()) return { mounts: [repository, ...objects], dropped, bound };
  const gitFile = writeOwn(plan.sessionDir, 'gitfile', `gitdir: ${INSIDE_REPOSITORY}\n`);
  return { mounts: [repository, bindMount(gitFile, AT_PROJECT), ...objects], dropped, bound };
}

/** The mounts of a session that is not started: those of repositories that the project's borrows from are not known. */
export function plannedGitMounts({ project, sessionDir }: Plan): Mount[] {
  const common = project.gitCommonDir;
  if ((project.git !== 'directory' && project.git !== 'file') || common === undefined) return [];
  const directory = project.git === 'directory';
  return [
    bindMount(sessionGit(sessionDir), directory ? AT_PROJECT : INSIDE_REPOSITORY, 'writable'),
    ...(directory ? [] : [bindMount(path.join(sessionDir, 'bind', 'gitfile'), AT_PROJECT)]),
    bindMount(path.join(common, 'objects'), `${INSIDE_OBJECTS}/0`),
  ];
}

/** The session's repository as a workspace of its own, for the container that makes a bundle of its commits. */
export function boundRepositoryMounts(sessionDir: string, bound: BoundGit): Mount[] {
  return [bindMount(sessionGit(sessionDir), AT_PROJECT), ...objectMounts(sessionDir, bound)];
}

/** It is the session's layer: what is said of that (how long it stays, who removes it) holds for it. */
export function sessionGit(sessionDir: string): string {
  return path.join(sessionDir, 'layer', 'git');
}

function objectMounts(sessionDir: string, { objects }: BoundGit): Mount[] {
  return objects.flatMap((source, at) => {
    const target = `${INSIDE_OBJECTS}/${at}`;
    const mount = bindMount(source, target);
    if (!existsSync(path.join(source, 'info', 'alternates'))) return [mount];
    // What it borrows from is named in ours: its own list has the host's paths.
    const none = writeOwn(sessionDir, 'no-alternates', '');
    return [mount, bindMount(none, `${target}/info/alternates`)];
  });
}

function bindMount(source: string, target: string, access: 'read-only' | 'writable' = 'read-only'): Mount {
  return { kind: 'bind', source, target, readonly: access === 'read-only' };
}

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Selection } from '../../core/text/selection.ts';
import type { Plan } from '../../core/types/plan.ts';
import { readSetupFiles } from '../setup/setup-files.ts';
import type { Ecosystem } from './ecosystem.ts';

/** A lock file of the project as it is on this machine, before the session. */
export interface LockFile {
  /** Relative to the project's root. */
  readonly file: string;
  readonly content: Buffer;
}

/**
 * The ecosystem's lock files at the top of the project, and in the folder that the agent starts in. No session's copy is
 * read. Links are not followed, and what is kept from the agent is not read.
 *
 * @throws {RunClaudeError} USAGE for one that is masked, excluded or not a regular file
 */
export function readLocks(
  { project }: Pick<Plan, 'project'>,
  { lockFiles }: Pick<Ecosystem, 'lockFiles'>,
  selection: Selection,
): LockFile[] {
  const folders = project.startIn === '' ? [''] : ['', `${project.startIn}/`];
  const names = folders
    .flatMap((folder) => lockFiles.map((file) => `${folder}${file}`))
    .filter((name) => lstatSync(join(project.root, name), { throwIfNoEntry: false }) !== undefined);
  if (names.length === 0) return [];
  const files = readSetupFiles(project.root, names, selection, 'cache');
  return files.map(({ path, content }) => ({ file: path, content }));
}

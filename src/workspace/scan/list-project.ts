import type { Selection } from '../../core/text/selection.ts';
import { countRows } from './packed-directory.ts';
import { encodeSnapshot } from './snapshot.ts';
import { walkTree } from './walk.ts';

/** The entries of a project as they are now. */
export interface ProjectList {
  /** As a generation's list is written on disk. */
  readonly encoded: Iterable<Uint8Array>;
  /** Entries outside of `.git`. */
  readonly count: number;
}

/**
 * Lists a project. No link is followed, and no file is opened.
 *
 * @throws {RunClaudeError} PROJECT_UNREADABLE; the signal's reason
 */
export async function listProject(root: string, selection: Selection, signal: AbortSignal): Promise<ProjectList> {
  const { snapshot, rootRow } = await walkTree({ root, selection, signal });
  let count = 0;
  for (const [dir, section] of snapshot) if (!/(^|\/)\.git(\/|$)/.test(dir)) count += countRows(section);
  return { encoded: encodeSnapshot({ version: 1, root: { mode: rootRow.mode } }, snapshot), count };
}

import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { ownVersion } from '../../core/host/package.ts';
import { openContentStore } from '../../core/store/content.ts';
import { writeFileAtomic } from '../../core/store/record.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import type { Origin } from '../../review/changeset/format.ts';
import { changeSetBytes, exportableChanges } from '../../review/changeset/write-set.ts';
import { auditIfMissing } from '../end/frozen-review.ts';
import { requireChanges } from '../record/require-usable.ts';
import { readCollected, storeDir } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';

/** What was exported. */
export interface Exported {
  readonly changes: number;
  /** Paths that a change set cannot hold. */
  readonly leftOut: readonly string[];
}

/**
 * `export`: writes the changes of a session that has ended to a new file. A session that is not audited yet is audited
 * first: its user sees what is handed on.
 *
 * @throws {RunClaudeError} USAGE for a bind session and where the file cannot be made; CHANGE_SET_TOO_LARGE; what
 * requireChanges, auditIfMissing and the store throw.
 */
export async function exportSession(record: SessionRecord, file: string, deps: UserDeps): Promise<Exported> {
  requireChanges(record);
  const { plan, id } = record;
  if (plan.mode === 'bind') {
    throw usageError(
      `session ${id} changed the project itself: it has no changes to export`,
      'Hand on a commit of the project.',
    );
  }
  const place = newFile(file);
  await auditIfMissing(record, deps);
  const { changes, leftOut } = exportableChanges(readCollected(plan.sessionDir).changes);
  const origin: Origin = {
    session: id,
    tool: ownVersion(),
    exported: `${new Date().toISOString().slice(0, 19)}Z`,
  };
  writeFileAtomic(place, changeSetBytes(origin, changes, openContentStore(storeDir(plan.sessionDir))));
  return { changes: changes.length, leftOut };
}

function newFile(file: string): string {
  const directory = lstatSync(path.dirname(file), { throwIfNoEntry: false });
  if (directory === undefined) throw usageError(`export ${file}: there is no such folder`);
  const place = path.join(realpathSync(path.dirname(file)), path.basename(file));
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return place;
  throw usageError(`export ${file}: the file exists`, 'Name a new file, or remove that one first.');
}

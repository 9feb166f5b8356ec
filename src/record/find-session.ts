import path from 'node:path';
import { usageError } from '../errors.ts';
import { CHANGED_SINCE } from '../review/file-progress.ts';
import type { SessionRecord } from '../types/session.ts';
import { type Purpose, pickSession, type SessionCandidate } from './pick-session.ts';
import { isLayerKept, listSessions, ownerState, type UnreadableSession } from './session.ts';

/** As {@link findPicked}, for commands that work with any session: the record alone. */
export function findSession(stateDir: string, id: string | undefined, folder: string): SessionRecord {
  return findPicked(stateDir, id, folder, 'any').record;
}

/**
 * The session that a command means: the one with this id (a unique beginning or end of it is enough), or without an
 * id what {@link pickSession} picks for `folder`, or for the nearest folder above it that has sessions.
 *
 * @throws {RunClaudeError} USAGE when there is none, or when several fit the id; RECORD_DAMAGED, RECORD_VERSION or
 * RECORD_UNREADABLE when the record of the session with this id cannot be read.
 */
export function findPicked(stateDir: string, id: string | undefined, folder: string, purpose: Purpose): PickedSession {
  const { sessions, unreadable } = listSessions(stateDir);
  if (id !== undefined) return { record: sessionNamed(id, sessions, unreadable), alsoPending: [], unreadable: [] };
  for (let project = folder; ; project = path.dirname(project)) {
    const own = sessions.filter((session) => session.project === project);
    const picked = pickSession(own.map(candidateOf), purpose);
    if (picked !== undefined) {
      return {
        record: picked.session.record,
        alsoPending: picked.alsoPending.map(({ record }) => record),
        unreadable: unreadable.filter((one) => one.project === undefined || one.project === project),
      };
    }
    if (project === path.dirname(project)) {
      throw usageError(`no session of ${folder} yet`, 'List the sessions of all projects with: run-claude sessions');
    }
  }
}

/** A session, and what the user should know of the others of its project. */
export interface PickedSession {
  readonly record: SessionRecord;
  readonly alsoPending: readonly SessionRecord[];
  /** Sessions that may be of the same project and cannot be picked, because their records cannot be read. */
  readonly unreadable: readonly UnreadableSession[];
}

/** The session with this id, or the only one whose id begins or ends so. */
function sessionNamed(
  id: string,
  sessions: readonly SessionRecord[],
  unreadable: readonly UnreadableSession[],
): SessionRecord {
  const all = [...sessions, ...unreadable];
  const exact = all.filter((one) => one.id === id);
  const alike = exact.length > 0 ? exact : all.filter(({ id: own }) => own.startsWith(id) || own.endsWith(id));
  const [only, ...others] = alike;
  if (only === undefined)
    throw usageError(`no session ${id}`, 'List the sessions of all projects with: run-claude sessions');
  if (others.length > 0) {
    throw usageError(
      `${id} could be ${alike.length} sessions`,
      `Type more of it: ${alike.map((s) => s.id).join(', ')}`,
    );
  }
  if ('error' in only) throw only.error;
  return only;
}

function candidateOf(record: SessionRecord): SessionCandidate & { readonly record: SessionRecord } {
  const { stage, started, outcome, plan } = record;
  const isApplied =
    record.branches !== undefined ||
    outcome?.changes.some(({ verdict, why }) => verdict === 'applied' || why === CHANGED_SINCE) === true;
  return {
    record,
    stage,
    started,
    isOwned: ownerState(record) !== 'ended',
    appliedAt: isApplied ? outcome?.at : undefined,
    hasLayer: plan?.mode === 'copy' && isLayerKept(record),
  };
}

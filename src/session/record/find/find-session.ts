import path from 'node:path';
import { type RunClaudeError, usageError } from '../../../core/errors.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import { CHANGED_SINCE } from '../../../review/choices/file-progress.ts';
import { isKept, isLayerKept, listSessions, ownerState, type UnreadableSession } from '../session.ts';
import {
  isOfAgent,
  isPending,
  isStrictPurpose,
  type Purpose,
  pickSession,
  type SessionCandidate,
} from './pick-session.ts';
import { agentSession } from './session-folders.ts';

/** A session, and what the user should know of the others of its project. */
export interface FoundSession {
  readonly record: SessionRecord;
  /** Others that the command could have meant as well. Empty where the user gave an id. */
  readonly others: readonly SessionRecord[];
  /** Sessions that may be of the same project and cannot be picked, because their records cannot be read. */
  readonly unreadable: readonly UnreadableSession[];
}

/**
 * The session that a command means: the one with this id (a unique beginning or end of it is enough), or without an
 * id what {@link pickSession} picks for `folder`, or for the nearest folder above it that has sessions.
 *
 * @throws {RunClaudeError} USAGE when there is none, or when several fit the id or the command must not choose;
 * RECORD_DAMAGED, RECORD_VERSION or RECORD_UNREADABLE when the record of the session with this id cannot be read.
 */
export function findSession(stateDir: string, id: string | undefined, folder: string, purpose: Purpose): FoundSession {
  const { sessions, unreadable } = listSessions(stateDir);
  const found =
    id === undefined
      ? pickedFor(folder, purpose, sessions, unreadable)
      : { record: sessionNamed(id, sessions, unreadable), others: [], unreadable: [] };
  return isOfAgent(purpose) ? { ...found, record: agentSession(found.record) } : found;
}

function pickedFor(
  folder: string,
  purpose: Purpose,
  sessions: readonly SessionRecord[],
  unreadable: readonly UnreadableSession[],
): FoundSession {
  for (let project = folder; ; project = path.dirname(project)) {
    const own = sessions.filter((session) => session.project === project);
    const picked = pickSession(own.map(candidateOf), purpose);
    if (picked !== undefined) {
      const others = picked.others.map(({ record }) => record);
      if (isStrictPurpose(purpose) && others.length > 0) throw ambiguous(project, [picked.session.record, ...others]);
      return {
        record: picked.session.record,
        others,
        unreadable: unreadable.filter((one) => one.project === undefined || one.project === project),
      };
    }
    // Where the agent of a session would end, no session of a folder further up is taken for one of this folder.
    if (own.length > 0 || project === path.dirname(project)) throw noSession(folder, purpose);
  }
}

function noSession(folder: string, purpose: Purpose): RunClaudeError {
  const what = isStrictPurpose(purpose) ? `no session of ${folder} is running` : `no session of ${folder} yet`;
  return usageError(what, 'List the sessions of all projects with: run-claude sessions');
}

function ambiguous(project: string, sessions: readonly SessionRecord[]): RunClaudeError {
  return usageError(`${sessions.length} sessions of ${project} could be meant`, `Name one of:${idLines(sessions)}`);
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
    throw usageError(`${id} could be ${alike.length} sessions`, `Type more of it, as it is in:${idLines(alike)}`);
  }
  if ('error' in only) throw only.error;
  return only;
}

const MAX_IDS = 8;

/** One line for each of some ids, the most recent first, and how many more there are. */
function idLines(sessions: readonly { readonly id: string }[]): string {
  const ids = sessions.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1));
  const more = ids.length - MAX_IDS;
  return [...ids.slice(0, MAX_IDS), ...(more > 0 ? [`… and ${more} more: run-claude sessions --all`] : [])]
    .map((text) => `\n  ${text}`)
    .join('');
}

/** The facts by which a session is picked. */
export function candidateOf(record: SessionRecord): SessionCandidate & { readonly record: SessionRecord } {
  const { stage, started, outcome, plan, commits, bound } = record;
  const isApplied =
    record.branches !== undefined ||
    outcome?.changes.some(({ verdict, why }) => verdict === 'applied' || why === CHANGED_SINCE) === true;
  return {
    record,
    stage,
    started,
    isOwned: ownerState(record) !== 'ended',
    appliedAt: isApplied ? outcome?.at : undefined,
    hasLayer: plan.mode === 'copy' && isLayerKept(record),
    hasCommits: (commits === undefined ? bound?.commits !== false : commits.length > 0) && isLayerKept(record),
    isKept: isKept(record),
  };
}

/** Whether a session is pending, as {@link isPending} defines it. */
export function isPendingSession(record: SessionRecord): boolean {
  return isPending({ stage: record.stage, isOwned: ownerState(record) !== 'ended' });
}

/** The pending sessions of a project, the most recent first, without those that are folders of another one. */
export function pendingSessions(stateDir: string, project: string): readonly SessionRecord[] {
  return listSessions(stateDir).sessions.filter((one) => one.project === project && isPendingSession(one));
}

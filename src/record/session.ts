import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError, usageError } from '../errors.ts';
import { processIdentity, processState } from '../host/process.ts';
import { maskPlan } from '../plan/mask-plan.ts';
import { CHANGED_SINCE } from '../review/file-progress.ts';
import { makePrivateDir, readJson, syncDir, writeJsonAtomic } from '../store/record.ts';
import type { Plan } from '../types/plan.ts';
import type { CollectedRecord, SessionRecord, Stage } from '../types/session.ts';
import { isSessionId, newSessionId } from './id.ts';
import { type Purpose, pickSession, type SessionCandidate } from './pick-session.ts';

/** Where all sessions of this person lie. */
export function sessionsDir(stateDir: string): string {
  return path.join(stateDir, 'sessions');
}

/** Takes a fresh id by making its directory, which nobody else can then have. */
export function reserveSession(stateDir: string, nowMs: number): { readonly id: string; readonly dir: string } {
  makePrivateDir(sessionsDir(stateDir));
  for (;;) {
    const id = newSessionId(nowMs);
    const dir = path.join(sessionsDir(stateDir), id);
    try {
      mkdirSync(dir, { mode: 0o700 });
      syncDir(sessionsDir(stateDir));
      return { id, dir };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** The first record of a session: planned, owned by this process. Values that `--env` passed in reach no disk. */
export function createRecord(plan: Plan): SessionRecord {
  const now = new Date().toISOString();
  const record: SessionRecord = {
    version: 1,
    id: plan.sessionId,
    project: plan.project.root,
    stage: 'planned',
    started: now,
    updated: now,
    plan: maskPlan(plan),
    owner: processIdentity(),
  };
  writeJsonAtomic(recordFile(plan.sessionDir), record);
  return record;
}

/**
 * The record with these fields changed, written before it is returned. A field given as undefined is removed. The time
 * that the agent ran follows from the stages 'running' and 'ended'.
 */
export function updateRecord(
  record: SessionRecord,
  change: { readonly [K in keyof Omit<SessionRecord, 'id' | 'version'>]?: SessionRecord[K] | undefined },
): SessionRecord {
  const updated = new Date().toISOString();
  const merged = { ...record, ...change, ...agentTime(record, change.stage, updated), updated };
  const kept = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
  const next = kept as unknown as SessionRecord;
  writeJsonAtomic(recordFile(record.plan.sessionDir), next);
  return next;
}

function agentTime(
  { agentStarted, agentMs = 0 }: SessionRecord,
  stage: Stage | undefined,
  now: string,
): Pick<SessionRecord, 'agentStarted' | 'agentMs'> {
  if (stage === 'running') return { agentStarted: now };
  if (stage !== 'ended' || agentStarted === undefined) return {};
  return { agentMs: agentMs + Math.max(0, Date.parse(now) - Date.parse(agentStarted)) };
}

/** The command that ran the session has ended with it: whatever the record says by now stays. */
export function releaseRecord(sessionDir: string): void {
  const record = readRecord(sessionDir);
  if (record !== undefined) updateRecord(record, { owner: undefined });
}

/**
 * Records of all sessions, newest first, to the millisecond (ids tell seconds). A directory without a readable record
 * is left out and named in `damaged`; one without anything in `reserved` (its start has not ended, or was killed).
 */
export function listSessions(stateDir: string): {
  readonly sessions: readonly SessionRecord[];
  readonly damaged: readonly string[];
  readonly reserved: readonly string[];
} {
  let names: string[];
  try {
    names = readdirSync(sessionsDir(stateDir));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { sessions: [], damaged: [], reserved: [] };
    throw error;
  }
  const sessions: SessionRecord[] = [];
  const damaged: string[] = [];
  const reserved: string[] = [];
  for (const name of names.filter(isSessionId)) {
    const record = readRecord(path.join(sessionsDir(stateDir), name));
    if (record !== undefined) sessions.push(record);
    else (isEmpty(path.join(sessionsDir(stateDir), name)) ? reserved : damaged).push(name);
  }
  sessions.sort((a, b) => (b.started < a.started ? -1 : 1));
  return { sessions, damaged: damaged.sort(), reserved: reserved.sort() };
}

/** Also when it was removed since. */
function isEmpty(dir: string): boolean {
  try {
    return readdirSync(dir).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

/** As {@link findPicked} for a command that decides nothing: the record alone. */
export function findSession(stateDir: string, id: string | undefined, folder: string): SessionRecord {
  return findPicked(stateDir, id, folder, 'any').record;
}

/**
 * The session that a command means: the one with this id (a unique beginning or end of it is enough), or without an
 * id what {@link pickSession} picks for `folder`, or for the nearest folder above it that has sessions.
 *
 * @throws {RunClaudeError} USAGE when there is none, or when several fit the id.
 */
export function findPicked(stateDir: string, id: string | undefined, folder: string, purpose: Purpose): PickedSession {
  const { sessions } = listSessions(stateDir);
  if (id !== undefined) return { record: sessionNamed(id, sessions), alsoPending: [] };
  for (let project = folder; ; project = path.dirname(project)) {
    const own = sessions.filter((session) => session.project === project);
    const picked = pickSession(own.map(candidateOf), purpose);
    if (picked !== undefined) {
      return { record: picked.session.record, alsoPending: picked.alsoPending.map(({ record }) => record) };
    }
    if (project === path.dirname(project)) {
      throw usageError(`no session of ${folder} yet`, 'See all of them with: run-claude sessions');
    }
  }
}

/** A session, and others of its project whose changes wait for a decision. */
export interface PickedSession {
  readonly record: SessionRecord;
  readonly alsoPending: readonly SessionRecord[];
}

/** The session with this id, or the only one whose id begins or ends so. */
function sessionNamed(id: string, sessions: readonly SessionRecord[]): SessionRecord {
  const exact = sessions.filter((session) => session.id === id);
  const alike = exact.length > 0 ? exact : sessions.filter(({ id: own }) => own.startsWith(id) || own.endsWith(id));
  const [only, ...others] = alike;
  if (only === undefined) throw usageError(`no session ${id}`, 'See all of them with: run-claude sessions');
  if (others.length > 0) {
    throw usageError(
      `${id} could be ${alike.length} sessions`,
      `Type more of it: ${alike.map((s) => s.id).join(', ')}`,
    );
  }
  return only;
}

function candidateOf(record: SessionRecord): SessionCandidate & { readonly record: SessionRecord } {
  const { stage, started, outcome, plan } = record;
  const isApplied =
    outcome?.changes.some(({ verdict, why }) => verdict === 'applied' || why === CHANGED_SINCE) === true;
  return {
    record,
    stage,
    started,
    isOwned: ownerState(record) !== 'gone',
    appliedAt: isApplied ? outcome.at : undefined,
    hasLayer: plan?.mode === 'copy' && isLayerKept(record),
  };
}

/** Whether the working copy of a session still exists, or in bind mode its repository. */
export function isLayerKept({ plan, stage, workspace, bound }: SessionRecord): boolean {
  const { strategy } = (workspace ?? {}) as { readonly strategy?: string };
  if ((strategy === undefined && bound === undefined) || stage === 'discarded') return false;
  return existsSync(path.join(plan.sessionDir, 'layer'));
}

/** session.json of a session's directory; undefined when there is none or it can't be parsed. */
export function readRecord(sessionDir: string): SessionRecord | undefined {
  let value: unknown;
  try {
    value = readJson(recordFile(sessionDir));
  } catch (error) {
    if (error instanceof RunClaudeError && error.code === 'RECORD_DAMAGED') return undefined;
    throw error;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const record = value as SessionRecord;
  if (record.version === 1) return withNote(record, sessionDir);
  throw new RunClaudeError('RECORD_VERSION', `${recordFile(sessionDir)} was written by another version of run-claude`, {
    hint: 'Use that version for this session, or discard it there.',
  });
}

/** Remembers a text with a session, in a file of its own: the command that runs the session writes the record. */
export function writeNote(record: SessionRecord, text: string): void {
  writeJsonAtomic(path.join(record.plan.sessionDir, 'note'), text);
}

function withNote(record: SessionRecord, sessionDir: string): SessionRecord {
  const file = path.join(sessionDir, 'note');
  // Few have one, every start reads all records, and to fail to open a file takes Node as long as to read one.
  const note = existsSync(file) ? readJson(file) : undefined;
  return typeof note === 'string' ? { ...record, note } : record;
}

/** Whether the command-line process that runs this session is still there. */
export function ownerState(record: SessionRecord): 'alive' | 'gone' | 'unknown' {
  return record.owner === undefined ? 'gone' : processState(record.owner);
}

/** What was collected and found, frozen. */
export function writeCollected(sessionDir: string, collected: CollectedRecord): void {
  writeJsonAtomic(path.join(sessionDir, 'manifest'), collected);
}

/** Whether the session came so far that there is something to look at. */
export function wasCollected(sessionDir: string): boolean {
  return existsSync(path.join(sessionDir, 'manifest'));
}

/** Throws RunClaudeError NOTHING_COLLECTED when the session has not come that far. */
export function readCollected(sessionDir: string): CollectedRecord {
  const value = readJson(path.join(sessionDir, 'manifest'));
  if (value === undefined) {
    throw new RunClaudeError('NOTHING_COLLECTED', 'nothing was collected from this session yet', {
      hint: 'While its agent runs, see: run-claude status',
    });
  }
  return value as CollectedRecord;
}

/** Directory of the session's frozen content. */
export function storeDir(sessionDir: string): string {
  return path.join(sessionDir, 'store');
}

function recordFile(sessionDir: string): string {
  return path.join(sessionDir, 'session.json');
}

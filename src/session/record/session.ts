import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { processIdentity, processState } from '../../core/host/processes/process.ts';
import { readRecordFile } from '../../core/store/parse-record.ts';
import { makePrivateDir, readJson, syncDir, writeJsonAtomic } from '../../core/store/record.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { CollectedRecord, SessionRecord, Stage } from '../../core/types/session.ts';
import { maskPlan } from '../plan/mask-plan.ts';
import { appendEvent } from './events/events-file.ts';
import { stageEvent } from './events/stage-event.ts';
import { isSessionId, newSessionId } from './find/id.ts';
import { MANIFEST_FORMAT } from './formats/manifest-format.ts';
import { SESSION_FORMAT } from './formats/session-format.ts';
import { requireStarted } from './start-failure.ts';

/** The directory of all sessions of this user. */
export function sessionsDir(stateDir: string): string {
  return path.join(stateDir, 'sessions');
}

/** Reserves a new id by creating its directory, which no other process can then create. */
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

/** Writes the first record of a session: planned, owned by this process, without the values that `--env` passed in. */
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
 * Writes the record with these fields changed, and returns it. A field given as undefined is removed. The changes to
 * the stages 'running' and 'ended' set how long the agent ran. The log says what a change of the stage means.
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
  const event = stageEvent(record, next);
  if (event !== undefined) appendEvent(next.plan.sessionDir, event.kind, event.text);
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

/** Removes the owner from the record: the command that ran the session ends now. */
export function releaseRecord(sessionDir: string): void {
  const record = readRecord(sessionDir);
  if (record !== undefined) updateRecord(record, { owner: undefined });
}

/** A session whose record this release cannot use. */
export interface UnreadableSession {
  readonly id: string;
  /** Its project, where the record still names one. */
  readonly project: string | undefined;
  readonly error: RunClaudeError;
}

/**
 * Records of all sessions, newest first by the millisecond (ids hold seconds). A session whose record cannot be read is
 * in `unreadable` and stops nothing. `reserved` has the ids of empty directories: their start has not written a record
 * yet, or was killed before it did.
 */
export function listSessions(stateDir: string): {
  readonly sessions: readonly SessionRecord[];
  readonly unreadable: readonly UnreadableSession[];
  readonly reserved: readonly string[];
} {
  const sessions: SessionRecord[] = [];
  const unreadable: UnreadableSession[] = [];
  const reserved: string[] = [];
  for (const id of sessionIds(stateDir)) {
    const dir = path.join(sessionsDir(stateDir), id);
    try {
      const record = readRecord(dir);
      if (record !== undefined) sessions.push(record);
      else if (isEmpty(dir)) reserved.push(id);
      else unreadable.push({ id, project: undefined, error: missingRecord(dir) });
    } catch (error) {
      if (!(error instanceof RunClaudeError)) throw error;
      unreadable.push({ id, project: recordedProject(dir), error });
    }
  }
  sessions.sort((a, b) => (b.started < a.started ? -1 : 1));
  return { sessions, unreadable, reserved };
}

/** The directories of all sessions, the oldest first. */
export function sessionDirs(stateDir: string): readonly string[] {
  return sessionIds(stateDir).map((id) => path.join(sessionsDir(stateDir), id));
}

function sessionIds(stateDir: string): string[] {
  try {
    return readdirSync(sessionsDir(stateDir)).filter(isSessionId).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function missingRecord(sessionDir: string): RunClaudeError {
  return new RunClaudeError('RECORD_DAMAGED', `${recordFile(sessionDir)} does not exist`, {
    hint: SESSION_FORMAT.hint,
  });
}

/** The project that a record names which cannot be read as a whole. */
function recordedProject(sessionDir: string): string | undefined {
  try {
    const { project } = (readJson(recordFile(sessionDir)) ?? {}) as { readonly project?: unknown };
    return typeof project === 'string' ? project : undefined;
  } catch {
    return undefined;
  }
}

/** A directory that was removed since counts as empty. */
function isEmpty(dir: string): boolean {
  try {
    return readdirSync(dir).length === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

/** Whether the working copy of a session still exists, or in bind mode its repository. */
export function isLayerKept({ plan, stage, workspace, bound }: SessionRecord): boolean {
  const { strategy } = (workspace ?? {}) as { readonly strategy?: string };
  if ((strategy === undefined && bound === undefined) || stage === 'discarded') return false;
  // A link in its place is nothing that run-claude made, and may lead anywhere.
  return lstatSync(path.join(plan.sessionDir, 'layer'), { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * The record of a session, undefined when there is none.
 *
 * @throws {RunClaudeError} RECORD_VERSION when another release wrote it in a form that this one does not know,
 * RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readRecord(sessionDir: string): SessionRecord | undefined {
  const record = readRecordFile(recordFile(sessionDir), SESSION_FORMAT);
  if (record === undefined) return undefined;
  requireOwnPlace(record, sessionDir);
  return withNote(record, sessionDir);
}

/** What a record names is locked, written to and removed: it must be the directory that the record is in. */
function requireOwnPlace({ id, project, plan }: SessionRecord, sessionDir: string): void {
  const isOwn = plan.sessionDir === sessionDir && plan.sessionId === id && path.basename(sessionDir) === id;
  if (isOwn && plan.project.root === project) return;
  const message = `${recordFile(sessionDir)} is the record of another session or place (${plan.sessionDir})`;
  throw new RunClaudeError('RECORD_DAMAGED', message, { hint: SESSION_FORMAT.hint });
}

/** Writes a note to its own file: session.json is written by the command that runs the session. */
export function writeNote(record: SessionRecord, text: string): void {
  writeJsonAtomic(path.join(record.plan.sessionDir, 'note'), text);
}

function withNote(record: SessionRecord, sessionDir: string): SessionRecord {
  const file = path.join(sessionDir, 'note');
  // Few sessions have a note, every start reads all records, and a failed open takes Node as long as a read.
  const note = existsSync(file) ? readNote(file) : undefined;
  return typeof note === 'string' ? { ...record, note } : record;
}

/** Undefined for a damaged note: its session can be used all the same. */
function readNote(file: string): unknown {
  try {
    return readJson(file);
  } catch (error) {
    if (error instanceof RunClaudeError) return undefined;
    throw error;
  }
}

/** Whether the command that runs this session still exists. */
export function ownerState(record: SessionRecord): 'alive' | 'ended' | 'unknown' {
  return record.owner === undefined ? 'ended' : processState(record.owner);
}

/** Whether a command runs the session right now, and its agent has something to work on. */
export function isRunning(record: SessionRecord): boolean {
  return record.stage === 'running' && ownerState(record) === 'alive';
}

/** Whether a session has no agent: commands come and go in it until `down`. */
export function isKept({ plan }: Pick<SessionRecord, 'plan'>): boolean {
  return plan.program.kind === 'kept';
}

/** Writes what was collected from the session, with the findings of the audit. */
export function writeCollected(sessionDir: string, collected: CollectedRecord): void {
  writeJsonAtomic(path.join(sessionDir, 'manifest'), collected);
}

/** Whether the changes of the session were collected. */
export function wasCollected(sessionDir: string): boolean {
  return existsSync(path.join(sessionDir, 'manifest'));
}

/**
 * What was collected from a session and found in it.
 *
 * @throws {RunClaudeError} NOTHING_COLLECTED when the session has not come that far, SESSION_FAILED where its start failed;
 * RECORD_VERSION, RECORD_DAMAGED, RECORD_UNREADABLE.
 */
export function readCollected(sessionDir: string): CollectedRecord {
  const collected = readRecordFile(path.join(sessionDir, 'manifest'), MANIFEST_FORMAT);
  if (collected !== undefined) return collected;
  const record = readRecord(sessionDir);
  if (record !== undefined) requireStarted(record);
  if (record?.stage === 'discarded')
    throw new RunClaudeError(
      'NOTHING_COLLECTED',
      `session ${record.id} was discarded before its changes were collected`,
    );
  throw new RunClaudeError('NOTHING_COLLECTED', 'nothing was collected from this session yet', {
    hint:
      record !== undefined && ownerState(record) === 'ended'
        ? `The command that ran it was killed. To collect what it left: run-claude status ${record.id}`
        : 'While its agent runs, see: run-claude status',
  });
}

/**
 * Removes what was frozen of a session. Of one that was applied in part the content stays: an undo needs it.
 */
export function forgetCollected(sessionDir: string): void {
  for (const name of ['frozen-files', 'manifest', ...(wasApplied(sessionDir) ? [] : ['store'])])
    rmSync(path.join(sessionDir, name), { recursive: true, force: true });
}

function wasApplied(sessionDir: string): boolean {
  return existsSync(path.join(sessionDir, 'journal'));
}

/** Directory of the session's frozen content. */
export function storeDir(sessionDir: string): string {
  return path.join(sessionDir, 'store');
}

/** session.json in the session's directory. */
export function recordFile(sessionDir: string): string {
  return path.join(sessionDir, 'session.json');
}

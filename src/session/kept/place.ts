import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { fields, oneOf, type RecordFormat, readRecordFile, text } from '../../core/store/parse-record.ts';
import { writeJsonAtomic } from '../../core/store/record.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { isKept, isRunning, listSessions } from '../record/session.ts';

/** Where the command that holds a kept session is reached. */
interface DoorPlace {
  readonly version: 1;
  /** Path of its socket, in a directory of this user alone. */
  readonly socket: string;
}

const FORMAT: RecordFormat<DoorPlace> = {
  name: 'place of a kept session',
  version: 1,
  check: fields<DoorPlace>({ version: oneOf(1), socket: text }),
  hint: 'End the session with: run-claude down',
};

const placeFile = (sessionDir: string): string => path.join(sessionDir, 'door');

/** Whether the door of a session is open. */
export function hasPlace(sessionDir: string): boolean {
  return existsSync(placeFile(sessionDir));
}

/** Whether commands can be run in a kept session now: its door is open. */
export function isUp(record: SessionRecord): boolean {
  return isKept(record) && isRunning(record) && hasPlace(record.plan.sessionDir);
}

/** The kept session of a project that is up; undefined where there is none. */
export function findUp(stateDir: string, project: string): SessionRecord | undefined {
  return listSessions(stateDir).sessions.find((record) => record.project === project && isUp(record));
}

export function writePlace(sessionDir: string, socket: string): void {
  writeJsonAtomic(placeFile(sessionDir), { version: 1, socket } satisfies DoorPlace);
}

/** To be called before the door is closed: nobody finds it any more. */
export function removePlace(sessionDir: string): void {
  rmSync(placeFile(sessionDir), { force: true });
}

/** The socket of a kept session. @throws {RunClaudeError} SESSION_ENDED where it has none; RECORD_DAMAGED. */
export function readPlace({ id, plan }: SessionRecord): string {
  const place = readRecordFile(placeFile(plan.sessionDir), FORMAT);
  if (place === undefined) throw notUp(id);
  return place.socket;
}

/** The error for a kept session that cannot be reached. */
export function notUp(id: string): RunClaudeError {
  return new RunClaudeError('SESSION_ENDED', `session ${id} is not up`, {
    hint: `See what it changed with: run-claude status ${id}. Start another one with: run-claude up`,
  });
}

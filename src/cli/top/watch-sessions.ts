import { statSync } from 'node:fs';
import { RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { type SessionFacts, sessionFacts } from '../../session/end/report/session-facts.ts';
import { openSessionLog, type SessionLog } from '../../session/log/session-log.ts';
import { isPendingSession } from '../../session/record/find/find-session.ts';
import { isUnderWay } from '../../session/record/find/pick-session.ts';
import { readRecord, recordFile, sessionDirs } from '../../session/record/session.ts';
import { type Activity, NO_ACTIVITY, withEvents } from './activity.ts';
import { damagedRow, type SessionRow, sessionRow } from './session-row.ts';

interface Watched {
  /** Of the record's file, as it was read. */
  mtimeMs: number;
  record: SessionRecord;
  facts?: SessionFacts;
  log?: SessionLog;
  activity: Activity;
}

/** The sessions of this user, read again as they change. */
export interface SessionWatch {
  /** Reads what changed since the last call. The newest session comes first. */
  read(): void;
  readonly records: readonly SessionRecord[];
  /** A row, with the log read up to now. Only rows that are shown are asked for. */
  row(record: SessionRecord, nowMs: number): Promise<SessionRow>;
}

/** It runs, or changes of it are not decided about. */
export const isOpenSession = (record: SessionRecord): boolean => isUnderWay(record) || isPendingSession(record);

export function watchSessions(stateDir: string, isShown: (record: SessionRecord) => boolean): SessionWatch {
  const watched = new Map<string, Watched>();
  let records: readonly SessionRecord[] = [];
  return {
    get records() {
      return records;
    },
    read() {
      const dirs = new Set(sessionDirs(stateDir));
      for (const dir of watched.keys()) if (!dirs.has(dir)) watched.delete(dir);
      for (const dir of dirs) readAgain(dir, watched);
      records = [...watched.values()]
        .map(({ record }) => record)
        .filter(isShown)
        .sort((a, b) => (a.started < b.started ? 1 : -1));
    },
    async row(record, nowMs) {
      const one = watched.get(record.plan.sessionDir) ?? { mtimeMs: 0, record, activity: NO_ACTIVITY };
      one.log ??= openSessionLog(one.record);
      try {
        one.activity = withEvents(one.activity, await one.log.read());
        // Whether its process still runs is in no file of the session.
        if (one.facts === undefined || isUnderWay(one.record)) one.facts = sessionFacts(one.record);
      } catch (error) {
        if (!isDamage(error)) throw error;
        // It must not hide the others, and has its own row: a key would be for another session than the marked one.
        return damagedRow(one.record, one.activity, nowMs);
      }
      return sessionRow(one.record, one.facts, one.activity, nowMs);
    },
  };
}

function readAgain(dir: string, watched: Map<string, Watched>): void {
  try {
    const { mtimeMs } = statSync(recordFile(dir));
    const known = watched.get(dir);
    if (known?.mtimeMs === mtimeMs) return;
    const record = readRecord(dir);
    if (record === undefined) return;
    if (known === undefined) watched.set(dir, { mtimeMs, record, activity: NO_ACTIVITY });
    else {
      Object.assign(known, { mtimeMs, record });
      delete known.facts;
    }
  } catch (error) {
    // Removed, reserved, or damaged: not a session that can be shown.
    if (!isDamage(error)) throw error;
  }
}

/** What a file of a session can do, in contrast to a bug. `log` names it. */
const isDamage = (error: unknown): boolean =>
  error instanceof RunClaudeError || (error as NodeJS.ErrnoException).code !== undefined;

import { createHash } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isDotGitName } from '../../../../core/git/names.ts';
import { bootId } from '../../../../core/host/processes/process.ts';
import { makePrivateDir, syncDir, writeAll } from '../../../../core/store/record.ts';
import { parseRelPath } from '../../../../core/text/path.ts';
import type { ApplyOutcome, ChangeOutcome } from '../../../../core/types/session.ts';
import type { Step } from '../steps/steps.ts';
import {
  type FolderTime,
  type JournalHead,
  type JournalRecord,
  parseJournalRecord,
  requireKnownVersion,
} from './journal-format.ts';

/** The identity that the project's directory must still have: a device number changes at a boot, an inode does not. */
export function expectedIdentity({ identity, boot }: JournalHead): string {
  return boot === bootId() ? identity : identity.slice(identity.indexOf(':'));
}

/** A journal as it was read: records up to the first that is damaged. */
export interface ReadJournal {
  readonly number: number;
  readonly file: string;
  readonly head: JournalHead;
  readonly folders: readonly FolderTime[];
  readonly steps: readonly Step[];
  readonly ready: boolean;
  /** Steps that were done; with a mode where the file system gave the file another mode than planned. */
  readonly done: ReadonlyMap<number, number | undefined>;
  readonly failed: ReadonlyMap<number, ChangeOutcome>;
  readonly rollback: string | undefined;
  readonly end: Extract<JournalRecord, { r: 'end' }> | undefined;
}

/** An open journal. Records are lines of checksum and JSON. */
export interface Journal extends Disposable {
  readonly number: number;
  /** Appends records; with `durable` they are on the disk when this returns. Throws what the system throws. */
  append(records: readonly JournalRecord[], durable: boolean): void;
  /** Ends a line that an earlier process wrote only in part. */
  startLine(): void;
}

const folderOf = (sessionDir: string): string => path.join(sessionDir, 'journal');

/** A new journal after all others of the session. */
export function createJournal(sessionDir: string): Journal {
  const folder = folderOf(sessionDir);
  makePrivateDir(folder);
  const number = Math.max(0, ...numbersIn(folder)) + 1;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
  const fd = openSync(fileOf(folder, number), flags, 0o600);
  syncDir(folder);
  // The folder itself may be new: a journal whose name is lost in a power cut could not be recovered from.
  syncDir(sessionDir);
  return openedJournal(number, fd);
}

/** Opens an existing journal to append to it. */
export function reopenJournal(journal: ReadJournal): Journal {
  return openedJournal(journal.number, openSync(journal.file, constants.O_WRONLY | constants.O_APPEND));
}

function openedJournal(number: number, fd: number): Journal {
  return {
    number,
    append(records, durable) {
      writeAll(fd, Buffer.from(records.map(lineOf).join('')));
      if (durable) fsyncSync(fd);
    },
    startLine() {
      writeSync(fd, '\n');
    },
    [Symbol.dispose]() {
      closeSync(fd);
    },
  };
}

/**
 * All journals of a session, oldest first.
 *
 * @throws {RunClaudeError} RECORD_VERSION, RECORD_DAMAGED.
 */
export function readJournals(sessionDir: string): ReadJournal[] {
  const folder = folderOf(sessionDir);
  return numbersIn(folder).flatMap((number) => readJournal(fileOf(folder, number), number) ?? []);
}

/** The last apply or undo of a session, where its command ended after it, and before the record that is from `recordedAt`. */
export function unrecorded(journals: readonly ReadJournal[], recordedAt: string | undefined): ApplyOutcome | undefined {
  const last = journals.at(-1);
  const outcomes = last?.end?.outcomes ?? [];
  if (last === undefined || recordedAt === undefined || last.head.at <= recordedAt) return undefined;
  return outcomes.some(({ verdict }) => verdict === 'applied') ? { changes: outcomes, at: last.head.at } : undefined;
}

/** Whether recovery has something to do with these. */
export function isUnfinished(journals: readonly ReadJournal[], recordedAt: string | undefined): boolean {
  return journals.some(({ end }) => end === undefined) || unrecorded(journals, recordedAt) !== undefined;
}

function numbersIn(folder: string): number[] {
  try {
    const numbers = readdirSync(folder).flatMap((name) => /^([0-9]+)\.journal$/.exec(name)?.[1] ?? []);
    return numbers.map(Number).sort((a, b) => a - b);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function fileOf(folder: string, number: number): string {
  return path.join(folder, `${String(number).padStart(4, '0')}.journal`);
}

function lineOf(record: JournalRecord): string {
  const json = JSON.stringify(record);
  return `${checksum(json)} ${json}\n`;
}

function checksum(json: string): string {
  return createHash('sha256').update(json).digest('hex').slice(0, 16);
}

/**
 * Undefined when not even the head was written: nothing can have happened.
 *
 * @throws {RunClaudeError} RECORD_VERSION when another release wrote it in a form that this one does not know,
 * RECORD_DAMAGED when a record is not what any release writes: its checksum holds, so no crash left it.
 */
function readJournal(file: string, number: number): ReadJournal | undefined {
  const records = readRecords(file);
  const [first] = records;
  if (first?.r !== 'head') return undefined;
  const of = <R extends JournalRecord['r']>(r: R): Extract<JournalRecord, { r: R }>[] =>
    records.filter((record): record is Extract<JournalRecord, { r: R }> => record.r === r);
  const steps = of('step').map(({ step }) => step);
  // The token is part of file names.
  const safe = /^[0-9a-f]{12}$/.test(first.head.token) ? steps.filter((step) => isInProject(step.path)) : [];
  return {
    number,
    file,
    head: first.head,
    folders: first.folders,
    steps: safe,
    ready: safe.length === steps.length && of('ready').some((record) => record.steps === steps.length),
    done: new Map(of('done').map((record) => [record.step, record.mode])),
    failed: new Map(of('failed').map((record) => [record.step, record.outcome])),
    rollback: of('rollback')[0]?.why,
    end: of('end')[0],
  };
}

/** Up to the first damaged record; after `ready`, where only hints can be lost, without the damaged ones. */
function readRecords(file: string): JournalRecord[] {
  const records: JournalRecord[] = [];
  let isCutOff = false;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const json = line.slice(17);
    if (line[16] === ' ' && line.slice(0, 16) === checksum(json)) {
      const value: unknown = JSON.parse(json);
      if (records.length === 0) requireKnownVersion(value, file);
      const record = parseJournalRecord(value, file);
      // Recovery writes an end even into a journal that is cut off.
      if (!isCutOff || record.r === 'end') records.push(record);
    } else if (line !== '' && !records.some(({ r }) => r === 'ready')) {
      isCutOff = true;
    }
  }
  return records;
}

/** Whether apply may write there: inside the project and not in a `.git`. A journal is held to it as well. */
export function isInProject(candidate: string): boolean {
  return parseRelPath(candidate) !== undefined && !candidate.split('/').some(isDotGitName);
}

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import {
  fields,
  number,
  oneOf,
  optional,
  type RecordFormat,
  readRecordFile,
  text,
} from '../../core/store/parse-record.ts';
import { makePrivateDir, writeJsonAtomic } from '../../core/store/record.ts';
import { batchesDir } from '../../session/record/find/batches.ts';
import type { TaskFacts, TaskRecord } from './tasks/task.ts';

const TASK_FORMAT: RecordFormat<TaskRecord> = {
  name: 'record of a task',
  version: 1,
  check: fields<TaskRecord>({
    version: oneOf(1),
    id: text,
    started: text,
    result: optional(oneOf('done', 'failed', 'interrupted')),
    session: optional(text),
    status: optional(number),
    error: optional(text),
    ms: optional(number),
    shown: optional(fields<TaskFacts>({ verdict: text, files: optional(number), costUsd: optional(number) })),
  }),
  hint: 'Remove the file; the next run of the batch starts this task again.',
};

/** Where the records of one batch are: `batches/KEY/` in the state directory. */
export interface BatchPlace {
  /** 16 hex digits, of the file's real path; for standard input of the current directory. */
  readonly key: string;
  readonly dir: string;
}

/** The place of the batch that `source` names: a real path of a file, or a directory with `-` behind it. */
export function batchPlace(stateDir: string, source: string): BatchPlace {
  const key = createHash('sha256').update(source).digest('hex').slice(0, 16);
  return { key, dir: path.join(batchesDir(stateDir), key) };
}

/** Makes the directory, which has the prompts' answers: for its user only. */
export function makeBatchPlace({ dir }: BatchPlace): void {
  makePrivateDir(path.dirname(dir));
  mkdirSync(dir, { mode: 0o700, recursive: true });
}

/** Held by the run of the batch, so that no task runs twice. */
export const batchLockFile = ({ dir }: BatchPlace): string => path.join(dir, 'lock');

/** Where what a task's agent prints is kept, and what run-claude says of it. */
export function taskFiles({ dir }: BatchPlace, id: string): { readonly output: string; readonly log: string } {
  return { output: path.join(dir, `${id}.out`), log: path.join(dir, `${id}.log`) };
}

/**
 * The record of a task; undefined where it was never started.
 *
 * @throws {RunClaudeError} RECORD_VERSION, RECORD_UNREADABLE. A damaged record throws RECORD_DAMAGED
 */
export function readTask({ dir }: BatchPlace, id: string): TaskRecord | undefined {
  const file = path.join(dir, `${id}.json`);
  const record = readRecordFile(file, TASK_FORMAT);
  if (record === undefined || record.id === id) return record;
  throw new RunClaudeError('RECORD_DAMAGED', `${file} is the record of another task`, { hint: TASK_FORMAT.hint });
}

/** Writes the record of a task. */
export function writeTask({ dir }: BatchPlace, record: TaskRecord): void {
  writeJsonAtomic(path.join(dir, `${record.id}.json`), record);
}

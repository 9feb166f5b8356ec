import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fields, number, oneOf, type RecordFormat, readRecordFile, text } from '../../core/store/parse-record.ts';
import { makePrivateDir, writeJsonAtomic } from '../../core/store/record.ts';

/** What the user is asked to confirm. */
export type Confirmed = 'apply' | 'discard';

/** A question that is open: only the user was shown its code. */
export interface PendingAnswer {
  readonly version: 1;
  readonly action: Confirmed;
  /** Id of the session, whose changes are frozen. */
  readonly session: string;
  readonly code: string;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

export const ANSWER_MS = 600_000;
const CODES = 1_000_000;

const FORMAT: RecordFormat<PendingAnswer> = {
  name: 'question of the plugin',
  version: 1,
  check: fields<PendingAnswer>({
    version: oneOf(1),
    action: oneOf('apply', 'discard'),
    session: text,
    code: text,
    untilMs: number,
  }),
  hint: 'Remove the file; the question is asked again.',
};

/** The question of one project. It is in the state directory: every process of the user finds the same file. */
const answerFile = (stateDir: string, key: string): string => path.join(stateDir, 'plugin', `${key}.json`);

/** Asks for a new code, in place of an earlier one. */
export function askForCode(
  stateDir: string,
  key: string,
  asked: Pick<PendingAnswer, 'action' | 'session'>,
  nowMs: number,
): PendingAnswer {
  const code = String(randomInt(CODES)).padStart(6, '0');
  const pending: PendingAnswer = { version: 1, ...asked, code, untilMs: nowMs + ANSWER_MS };
  makePrivateDir(path.join(stateDir, 'plugin'));
  writeJsonAtomic(answerFile(stateDir, key), pending);
  return pending;
}

/**
 * The last question, which nobody answered; it may be too late for an answer. Undefined where there is none.
 *
 * @throws {RunClaudeError} RECORD_DAMAGED.
 */
export function lastQuestion(stateDir: string, key: string): PendingAnswer | undefined {
  return readRecordFile(answerFile(stateDir, key), FORMAT);
}

/** The question that is open; undefined where there is none, or it is too late. @throws {RunClaudeError} RECORD_DAMAGED. */
export function readPending(stateDir: string, key: string, nowMs: number): PendingAnswer | undefined {
  const pending = lastQuestion(stateDir, key);
  return pending === undefined || nowMs > pending.untilMs ? undefined : pending;
}

/**
 * Returns the question where this is its answer. A code is good once, and after a wrong one none is: the question is then
 * one that nobody answered.
 */
export function takeAnswer(
  stateDir: string,
  key: string,
  answer: Pick<PendingAnswer, 'action' | 'code'>,
  nowMs: number,
): PendingAnswer | undefined {
  const pending = readPending(stateDir, key, nowMs);
  if (pending === undefined) return undefined;
  const isAnswer = pending.code === answer.code && pending.action === answer.action;
  if (isAnswer) dropPending(stateDir, key);
  else writeJsonAtomic(answerFile(stateDir, key), { ...pending, untilMs: 0 });
  return isAnswer ? pending : undefined;
}

export function dropPending(stateDir: string, key: string): void {
  rmSync(answerFile(stateDir, key), { force: true });
}

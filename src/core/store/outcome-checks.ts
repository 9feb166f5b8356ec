import type { ChangeOutcome } from '../types/session.ts';
import { fields, listOf, number, oneOf, optional, relPath, text } from './parse-record.ts';

/** What became of a change, without its path. */
export const verdictFields = {
  verdict: oneOf('applied', 'same', 'conflict', 'blocked', 'suspect', 'withheld', 'skipped', 'failed'),
  why: optional(text),
  thing: optional(text),
  ways: optional(listOf(oneOf('keep', 'theirs', 'markers', 'file'))),
} as const;

/** An outcome as records and journals have it. */
export const changeOutcome = fields<ChangeOutcome>({ path: relPath, ...verdictFields });

/** What became of a test of the result. */
export const testFields = {
  name: text,
  command: text,
  verdict: oneOf('passed', 'failed', 'failed-before', 'timed-out', 'not-run'),
  ms: number,
  status: optional(number),
  why: optional(text),
  lines: listOf(text),
  changed: listOf(text),
} as const;

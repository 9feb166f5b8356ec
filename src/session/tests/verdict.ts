import { durationText } from '../../core/text/when.ts';
import type { TestCommand, TestResult } from '../../core/types/test.ts';

/** One run of a command in a scratch layer. */
export interface CommandRun {
  readonly ms: number;
  /** Undefined where run-claude stopped it. */
  readonly status: number | undefined;
  /** Why run-claude stopped it: its time limit, or the session's limit for the disk. */
  readonly stopped?: 'time' | 'disk' | undefined;
  /** The last lines of its output. Cleaned. */
  readonly lines: readonly string[];
}

/** Whether every test passed: one that did not run has not passed, and neither have tests that nobody ran. */
export function havePassed(tests: readonly TestResult[] | undefined): boolean {
  return tests?.every(({ verdict }) => verdict === 'passed') === true;
}

/** Whether the project as it was decides what the verdict is. */
export function needsBase({ status }: CommandRun): boolean {
  return status !== undefined && status !== 0;
}

/**
 * The verdict on a command. `base`: its run without the session's changes; a text says why there is none, and undefined
 * that none was needed.
 */
export function verdictOn(
  { name, command, timeoutMs }: TestCommand,
  result: CommandRun,
  base: CommandRun | string | undefined,
  changed: readonly string[],
): TestResult {
  const { ms, status, stopped, lines } = result;
  const known = { name, command, ms, changed };
  if (status === 0) return { ...known, verdict: 'passed', status, lines: [] };
  if (stopped === 'time')
    return { ...known, verdict: 'timed-out', why: `stopped after ${durationText(timeoutMs)}`, lines };
  if (stopped === 'disk' || status === undefined)
    return { ...known, verdict: 'failed', why: "stopped: it filled more than the session's limit for the disk", lines };
  const failed = { ...known, verdict: 'failed', status, lines } as const;
  if (typeof base === 'string') return { ...failed, why: `not compared with the project as it was: ${base}` };
  if (base === undefined || base.status === 0) return failed;
  if (base.status === undefined) return { ...failed, why: "without the session's changes it did not end" };
  return { ...failed, verdict: 'failed-before' };
}

/** A command that has no verdict. `why`: cleaned. */
export function notRun({ name, command }: TestCommand, why: string, changed: readonly string[]): TestResult {
  return { name, command, verdict: 'not-run', ms: 0, why, lines: [], changed };
}

import type { TaskRecord } from './task.ts';

/** Which ended tasks a run of the file repeats. */
export type Repeated = 'none' | 'failed' | 'all';

/** The session that an earlier run of the file started for a task. cut-off: its command was killed. */
export type EarlierSession = 'running' | 'cut-off' | 'ended' | undefined;

/**
 * What a run of the file does with a task. run: start its session. wait: its session runs, and its end is waited for.
 * collect: collect what the killed command left, then run. judge: its session ended, and nobody recorded how. keep:
 * nothing.
 */
export type NextStep = 'run' | 'wait' | 'collect' | 'judge' | 'keep';

/** What a run of the file does with a task. Without a record the task was never started. */
export function nextStep(record: TaskRecord | undefined, session: EarlierSession, repeated: Repeated): NextStep {
  if (record === undefined) return 'run';
  if (session === 'cut-off') return 'collect';
  const { result } = record;
  if (result === undefined) return session === 'running' ? 'wait' : session === 'ended' ? 'judge' : 'run';
  if (result === 'interrupted' || repeated === 'all') return 'run';
  return result === 'failed' && repeated === 'failed' ? 'run' : 'keep';
}

import { usageError } from '../../core/errors.ts';

/** What `--on SCHEDULER:QUEUE` names. */
export interface JobTarget {
  readonly scheduler: SchedulerName;
  /** What the scheduler calls its queue: a partition of Slurm. */
  readonly queue: string;
}

/** Schedulers that a session can run on, by the word before the colon. */
const SCHEDULERS = ['slurm'] as const;

export type SchedulerName = (typeof SCHEDULERS)[number];

/** The name becomes a word of a command line and part of messages. */
const QUEUE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * What a value of `--on` names; undefined for one without a colon, which names no scheduler. Pure.
 *
 * @throws {RunClaudeError} USAGE for a scheduler that is not known, and for a queue that is not a name
 */
export function parseJobTarget(on: string): JobTarget | undefined {
  const colon = on.indexOf(':');
  if (colon < 0 || on.startsWith('k8s:')) return undefined;
  const word = on.slice(0, colon);
  const queue = on.slice(colon + 1);
  const scheduler = SCHEDULERS.find((one) => one === word);
  if (scheduler === undefined)
    throw usageError(`--on: '${word}' is not a scheduler`, `Schedulers: ${SCHEDULERS.join(', ')}.`);
  if (!QUEUE.test(queue))
    throw usageError(`--on: '${queue}' is not the name of a queue`, 'Write: --on slurm:PARTITION');
  return { scheduler, queue };
}

/** A target as the user writes it. */
export function targetText({ scheduler, queue }: JobTarget): string {
  return `${scheduler}:${queue}`;
}

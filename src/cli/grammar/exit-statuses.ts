import { EXIT } from '../../core/errors.ts';

/** The meaning of each exit status, by precedence: a command ends with the first that applies. */
export const EXIT_STATUSES: readonly (readonly [statuses: readonly number[], meaning: string])[] = [
  [[EXIT.usage], 'bad command line or configuration'],
  [[EXIT.failed], 'run-claude, the engine or the credential failed'],
  [[EXIT.interrupted, EXIT.terminated], 'interrupted'],
  [[EXIT.limit], 'a time or budget limit stopped the agent'],
  [[EXIT.conflict], 'conflict with your own edits, left pending'],
  [[EXIT.heldBack], 'the gate held something back'],
  [[EXIT.undecided], 'nothing was decided, all changes are pending'],
  [[EXIT.faults], 'doctor, --check: faults found'],
];

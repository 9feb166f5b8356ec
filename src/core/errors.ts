/**
 * Exit statuses of run-claude; any other one is the agent's. The order of precedence is in record/exit-status.ts and in
 * docs/reference/exit-statuses.md.
 */
export const EXIT = {
  ok: 0,
  faults: 1,
  usage: 2,
  testFailed: 119,
  undecided: 120,
  heldBack: 121,
  conflict: 122,
  needsPerson: 123,
  limit: 124,
  failed: 125,
  interrupted: 130,
  terminated: 143,
} as const;

/** The meaning of each exit status, by precedence: a command ends with the first that applies. */
export const EXIT_STATUSES: readonly (readonly [statuses: readonly number[], meaning: string])[] = [
  [[EXIT.usage], 'bad command line or configuration'],
  [[EXIT.failed], 'run-claude, the engine or the credential failed'],
  [[EXIT.interrupted, EXIT.terminated], 'interrupted'],
  [[EXIT.limit], 'a time or budget limit stopped the agent'],
  [[EXIT.conflict], 'conflict with your own edits, left pending'],
  [[EXIT.heldBack], 'the gate held something back'],
  [[EXIT.needsPerson], 'audit: a change needs a person'],
  [[EXIT.testFailed], 'a test of the result did not pass'],
  [[EXIT.undecided], 'nothing was decided, all changes are pending'],
  [[EXIT.faults], 'doctor, --check: faults found'],
];

export interface RunClaudeErrorOptions extends ErrorOptions {
  /** What the user can do next, one sentence. */
  readonly hint?: string;
  /** Exit status of the process when this ends it. Default 125. */
  readonly status?: number;
  /** The user chose it at a question: printed as information, not as an error. */
  readonly isChosen?: boolean;
}

/** A failure that the user can act on: what happened and what to do next. Any other error is a bug. */
export class RunClaudeError extends Error {
  /** SUBJECT_STATE in upper case, stable for scripts. */
  readonly code: string;
  readonly hint: string | undefined;
  readonly status: number;
  readonly isChosen: boolean;
  constructor(code: string, message: string, options: RunClaudeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RunClaudeError';
    this.code = code;
    this.hint = options.hint;
    this.status = options.status ?? EXIT.failed;
    this.isChosen = options.isChosen ?? false;
  }
}

/** The reason of the command's abort signal once the user, or the system, asked it to end. */
export class Interrupted extends Error {
  readonly by: StopSignal;
  constructor(by: StopSignal) {
    super(`interrupted by ${by}`);
    this.name = 'Interrupted';
    this.by = by;
  }
}

/** The signals that end a command with its cleanup. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** An error on the command line or in a configuration file: exit 2. */
export function usageError(message: string, hint?: string): RunClaudeError {
  return new RunClaudeError('USAGE', message, { status: EXIT.usage, ...(hint === undefined ? {} : { hint }) });
}

/** How a hint names the way from bind mode to copy mode: true whether --bind was typed, or a configuration says bind mode. */
export const COPY_MODE = '--copy-workspace in place of --bind';

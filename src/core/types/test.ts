/** A command that the user runs on the result of a session. */
export interface TestCommand {
  /** As it is printed. */
  readonly name: string;
  /** For a shell. */
  readonly command: string;
  readonly timeoutMs: number;
  /** It has the session's gateway, with the session's rules. */
  readonly needsNetwork: boolean;
}

/** not-run: run-claude could not run it, or was interrupted. */
export type TestVerdict = 'passed' | 'failed' | 'failed-before' | 'timed-out' | 'not-run';

/** What became of one test. */
export interface TestResult {
  readonly name: string;
  readonly command: string;
  /** failed-before: it fails without the session's changes too. */
  readonly verdict: TestVerdict;
  /** With the session's changes. */
  readonly ms: number;
  /** Its exit status with the session's changes. Undefined where it did not end by itself. */
  readonly status?: number;
  /** Why it was not run or stopped, or could not be compared. Cleaned. */
  readonly why?: string;
  /** The last lines that it printed, unless it passed. Cleaned. */
  readonly lines: readonly string[];
  /** Files that the command runs and that the session changed or deleted. Cleaned. */
  readonly changed: readonly string[];
}

/** One task of a batch: a session with one prompt. */
export interface Task {
  /** Of the file, from 1. */
  readonly line: number;
  readonly prompt: string;
  /** Absolute, not resolved. */
  readonly project: string;
  /** Undefined: the agent of the command line or of the user's configuration. */
  readonly agent: string | undefined;
  /** Limits of this task: values of a session's options, by name. */
  readonly limits: Readonly<Record<string, string>>;
  /**
   * 16 hex digits, of the project, the agent, the prompt and the limits: a changed line is another task. The second of
   * two equal lines is another task than the first.
   */
  readonly id: string;
}

/** How a task ended. interrupted: the next run of the file starts it again. */
export type TaskResult = 'done' | 'failed' | 'interrupted';

/** What is known of a task, in the batch's directory. */
export interface TaskRecord {
  readonly version: 1;
  readonly id: string;
  /** When its session was last started; ISO 8601. */
  readonly started: string;
  /** Undefined while it runs, or where the command that ran it was killed. */
  readonly result?: TaskResult | undefined;
  readonly session?: string | undefined;
  /** Exit status of the session. */
  readonly status?: number | undefined;
  /** Why no session came to its end. Not cleaned. */
  readonly error?: string | undefined;
  /** From its start to the end of its review, in milliseconds. */
  readonly ms?: number | undefined;
  /** What the table showed at the end, for the time when the session is removed. */
  readonly shown?: TaskFacts | undefined;
}

/** What the table shows of a session. */
export interface TaskFacts {
  /** State of the session and number of findings, in words. */
  readonly verdict: string;
  readonly files?: number | undefined;
  /** US dollars at list prices. */
  readonly costUsd?: number | undefined;
}

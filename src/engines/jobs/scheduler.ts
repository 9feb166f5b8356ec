/**
 * The seam between run-claude and a scheduler of other machines. One file implements it for one scheduler. A job is a
 * fixed program without secrets; everything that differs from session to session reaches it as arguments, as files of the
 * shared directory, and, for secrets, over the streams of {@link Scheduler.attach}.
 */
export interface Scheduler {
  /** For people: 'Slurm 22.05.8'. */
  readonly title: string;
  /**
   * Hands a job to the scheduler. Returns its id.
   *
   * @throws {RunClaudeError} JOB_REFUSED with the scheduler's own message
   */
  submit(job: JobRequest): Promise<string>;
  /** @throws {RunClaudeError} JOB_UNKNOWN where the scheduler does not answer */
  state(id: string): Promise<JobState>;
  /** Starts a program next to a running job, on the job's machine, with its streams attached. */
  attach(id: string, argv: readonly string[]): AttachedProgram;
  /** Ends a job as its user may: what runs in it gets SIGTERM first. No error for a job that has ended. */
  cancel(id: string): Promise<void>;
}

/** What a job asks for. No field may hold a secret: schedulers show all of them to other users. */
export interface JobRequest {
  /** The scheduler's name for it: letters, digits and '-'. */
  readonly name: string;
  readonly queue: string;
  /** File of the shared directory: a script of POSIX shell. */
  readonly script: string;
  readonly args: readonly string[];
  /** Of all containers of the job together. */
  readonly memoryMb: number;
  /** 0: the scheduler's default. */
  readonly cpus: number;
  /** The job ends after this time; undefined: the scheduler's own limit. */
  readonly timeMs: number | undefined;
  /** File of the shared directory for the output of the script. */
  readonly log: string;
}

/** `why`: in the words of the scheduler, such as a reason to wait or 'NODE_FAIL'. */
export type JobState =
  | { readonly kind: 'waiting'; readonly why: string }
  | { readonly kind: 'running'; readonly machine: string }
  | { readonly kind: 'ended'; readonly why: string };

/** The streams carry bytes as they are, in both directions, without waiting for whole lines. */
export interface AttachedProgram {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
  readonly stderr: NodeJS.ReadableStream;
  /** Resolves when the streams have ended, whatever ended them. */
  readonly ended: Promise<void>;
  /** Ends this end of the streams, and with it the program. */
  close(): void;
}

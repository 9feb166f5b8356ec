/** What a session takes while its agent waits for the model most of the time, in megabytes. */
const USUAL_MEMORY_MB = 2048;
const MAX_JOBS = 16;

export interface JobsInput {
  /** Of the engine's machine. */
  readonly processors: number;
  readonly memoryMb: number;
  /** The limits of a session; `cpus` 0: all. */
  readonly limits: { readonly cpus: number; readonly memoryMb: number };
}

/** How many sessions run side by side by default: one a processor, with three quarters of the memory at most. */
export function defaultJobs(input: JobsInput): number {
  const byProcessors = Math.floor(input.processors / Math.max(1, input.limits.cpus));
  return Math.max(1, Math.min(byProcessors, jobsForMemory(input), MAX_JOBS));
}

/** For how many sessions three quarters of the machine's memory are enough; at least 1. */
export function jobsForMemory({ memoryMb, limits }: JobsInput): number {
  return Math.max(1, Math.floor((memoryMb * 0.75) / Math.min(limits.memoryMb, USUAL_MEMORY_MB)));
}

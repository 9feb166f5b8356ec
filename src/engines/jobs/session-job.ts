import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import { writeFileAtomic } from '../../core/store/record.ts';
import type { Tell } from '../../core/types/event.ts';
import { refuseLost } from '../capabilities/refuse.ts';
import { printable } from '../remote/printable.ts';
import { JOB_SCRIPT, NODE_SCRIPT, RUN_FILES } from './node-script.ts';
import { readWord } from './read-word.ts';
import type { AttachedProgram, JobState, Scheduler } from './scheduler.ts';
import type { SessionDir } from './session-dir.ts';
import { type JobTarget, targetText } from './target.ts';

/** How often this process says that it is there. */
const ALIVE_MS = 5000;
const POLL_MS = 500;
const MAX_POLL_MS = 5000;
/** From the start of the job to its first word: it unpacks what was saved in between. */
const READY_LIMIT_MS = 10 * 60_000;
/** How long an earlier job may take to save. */
const OVER_LIMIT_MS = 10 * 60_000;
/** From the end of a job's programs to its own: it saves in between. */
const WHY_LIMIT_MS = 40_000;
/** A wait that is longer is announced. */
const TELL_AFTER_MS = 5000;
/** For the gateway, the collector and what else a session has next to its agent. */
const OVERHEAD_MB = 1536;
/** Added to the session's time: before the agent's start and after its end. */
const AROUND_AGENT_MS = 15 * 60_000;

export interface JobLimits {
  readonly memoryMb: number;
  readonly cpus: number;
  readonly timeoutMs: number | undefined;
}

export interface SessionJobParts {
  readonly scheduler: Scheduler;
  readonly target: JobTarget;
  readonly session: SessionDir;
  readonly sessionId: string;
  /** Directory of the node's own disk. */
  readonly scratch: string;
  readonly uid: number;
  readonly limits: JobLimits;
  /** Layers that the user gives up. */
  readonly accepted: readonly string[];
  /** How long the job waits for a sign of this process. */
  readonly patienceSeconds: number;
  /** Writes the bundles that the job's own script runs. */
  readonly ownBundles: (runDir: string, work: string) => Promise<void>;
  /** How long the job may wait in the queue; undefined: until the user ends it. */
  readonly queueLimitMs: number | undefined;
  readonly tell: Tell;
  readonly signal: AbortSignal | undefined;
}

/** The job of a session. It is submitted when it is first needed. */
export interface SessionJob {
  /** The directory of the node, whether it is made or not. */
  work(): string;
  /** Starts the node's script next to the job, which runs by then. */
  start(words: readonly string[]): Promise<AttachedProgram>;
  /** Why nothing runs any more, as an error for the user. `lastLine`: of the program that ended. */
  lost(lastLine: string): Promise<RunClaudeError>;
  /** Lets the job end: it saves what is to be kept. */
  close(): Promise<void>;
}

interface Running {
  readonly id: string;
  readonly memory: number | undefined;
  readonly swap: number | undefined;
}

/** Opens the job of a session, after the end of an earlier one. */
export function openSessionJob(parts: SessionJobParts): SessionJob {
  const { scheduler, session, sessionId, scratch, uid, tell, signal } = parts;
  const number = session.lastRun() + 1;
  const runDir = session.runDir(number);
  const work = path.join(scratch, `run-claude-${uid}-${sessionId}-${number}`);
  const programs = new Set<AttachedProgram>();
  let submitted: string | undefined;
  let running: Promise<Running> | undefined;
  let alive: NodeJS.Timeout | undefined;
  let isClosed = false;

  const submit = async (): Promise<Running> => {
    await endEarlier(number - 1, parts);
    refuseUnsaved(number - 1, parts);
    session.makeRun(number);
    writeFileSync(path.join(runDir, RUN_FILES.job), JOB_SCRIPT, { mode: 0o600 });
    writeFileSync(path.join(runDir, RUN_FILES.node), NODE_SCRIPT, { mode: 0o600 });
    await parts.ownBundles(runDir, work);
    let signs = 0;
    const sign = (): void => writeFileAtomic(path.join(runDir, RUN_FILES.alive), String(++signs), { durable: false });
    sign();
    const { memoryMb, cpus, timeoutMs } = parts.limits;
    submitted = await scheduler.submit({
      name: `run-claude-${sessionId}`,
      queue: parts.target.queue,
      script: path.join(runDir, RUN_FILES.job),
      args: [session.dir, runDir, work, String(parts.patienceSeconds)],
      memoryMb: memoryMb + OVERHEAD_MB,
      cpus,
      timeMs: timeoutMs === undefined ? undefined : timeoutMs + AROUND_AGENT_MS,
      log: path.join(runDir, 'log'),
    });
    session.setJob(submitted);
    tell({ kind: 'message', level: 'info', text: `Job ${submitted} of ${targetText(parts.target)}` });
    alive = setInterval(sign, ALIVE_MS);
    alive.unref();
    return untilReady(submitted, runDir, parts);
  };

  return {
    work: () => work,
    async start(words) {
      running ??= submit();
      const { id } = await running;
      signal?.throwIfAborted();
      const program = scheduler.attach(id, ['/bin/sh', path.join(runDir, RUN_FILES.node), ...words]);
      programs.add(program);
      void program.ended.then(() => programs.delete(program));
      return program;
    },
    async lost(lastLine) {
      const id = submitted ?? '';
      const state = await endState(id, runDir, parts);
      // It would start again, and end at once.
      if (state?.kind === 'waiting') await scheduler.cancel(id).catch(() => undefined);
      const failed = readWord(path.join(runDir, RUN_FILES.failed));
      const why = failed ?? whyEnded(state, readWord(path.join(runDir, RUN_FILES.ending)), parts.patienceSeconds);
      if (why === undefined)
        return new RunClaudeError('JOB_LOST', `the connection to job ${id} was lost: ${printable(lastLine)}`, {
          hint: COLLECT,
        });
      return new RunClaudeError('JOB_ENDED', `job ${id} ended: ${why}`, { hint: COLLECT });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(alive);
      if (submitted === undefined) return;
      writeFileAtomic(path.join(runDir, RUN_FILES.end), '', { durable: false });
      for (const program of programs) program.close();
      if (readWord(path.join(runDir, RUN_FILES.ready)) === undefined) await scheduler.cancel(submitted);
    },
  };
}

const COLLECT = 'What the job saved is collected by the next command for the session, such as: run-claude diff';

/**
 * A job that could not save, because its node failed, leaves nothing of what its agent wrote on the node's disk. What was
 * collected is in the session's record. Where an earlier job of the session saved, a warning says so.
 *
 * @throws {RunClaudeError} JOB_UNSAVED
 */
function refuseUnsaved(last: number, { session, tell }: Pick<SessionJobParts, 'session' | 'tell'>): void {
  const has = (file: string): boolean => existsSync(path.join(session.runDir(last), file));
  if (!has(RUN_FILES.ready) || has(RUN_FILES.saved) || !session.hasKept()) return;
  const what = `job ${session.job() ?? ''} ended before it saved what its agent wrote`;
  if (!session.hasSaved())
    throw new RunClaudeError('JOB_UNSAVED', what, {
      hint: 'Its node failed, or was switched off. Start the session again.',
    });
  tell({ kind: 'message', level: 'warning', text: `${what}: the session has what an earlier job saved` });
}

/** Why a job ended, in the words of the scheduler where it has one; undefined while it may run. Pure. */
export function whyEnded(
  state: JobState | undefined,
  ending: string | undefined,
  patienceSeconds: number,
): string | undefined {
  // It ran before: the scheduler puts it into the queue again.
  if (state?.kind === 'waiting') return 'REQUEUED';
  if (state?.kind !== 'ended') return undefined;
  if (state.why !== 'COMPLETED') return state.why;
  // It ended in order, after the signal that comes before the end of its time.
  if (ending === 'signal') return 'TIMEOUT';
  return ending === 'alone' ? `it had no sign of its command for ${patienceSeconds} seconds` : state.why;
}

/** The state of a job whose programs ended: the scheduler says why a moment later, or when the job has saved. */
async function endState(
  id: string,
  runDir: string,
  { scheduler, tell, signal }: Pick<SessionJobParts, 'scheduler' | 'tell' | 'signal'>,
): Promise<JobState | undefined> {
  let isTold = false;
  for (const since = Date.now(); ; ) {
    const state = await scheduler.state(id).catch(() => undefined);
    const isSaving = existsSync(path.join(runDir, RUN_FILES.ending));
    const limitMs = isSaving && signal?.aborted !== true ? OVER_LIMIT_MS : WHY_LIMIT_MS;
    const waitedMs = Date.now() - since;
    if (state?.kind === 'ended' || state?.kind === 'waiting' || waitedMs > limitMs) return state;
    if (isSaving && waitedMs > TELL_AFTER_MS && !isTold) {
      tell({ kind: 'message', level: 'info', text: savingText(id) });
      isTold = true;
    }
    await sleep(POLL_MS);
  }
}

const savingText = (id: string): string => `Waiting until job ${id} has saved what its agent wrote`;

/** A job of a command that was killed saves what its agent wrote before the next one reads it. */
async function endEarlier(last: number, { scheduler, session, tell, signal }: SessionJobParts): Promise<void> {
  const id = session.job();
  if (id === undefined || last === 0) return;
  const runDir = session.runDir(last);
  const end = path.join(runDir, RUN_FILES.end);
  if (!existsSync(end)) writeFileAtomic(end, '', { durable: false });
  let isTold = false;
  const since = Date.now();
  for (;;) {
    signal?.throwIfAborted();
    const state = await scheduler.state(id);
    if (state.kind === 'ended') return;
    // A job in the queue has not begun, or was requeued after it saved.
    if (state.kind === 'waiting' || !existsSync(path.join(runDir, RUN_FILES.ready))) await scheduler.cancel(id);
    if (!isTold) tell({ kind: 'message', level: 'info', text: savingText(id) });
    isTold = true;
    if (Date.now() - since > OVER_LIMIT_MS)
      throw new RunClaudeError('JOB_STUCK', `job ${id} does not end`, { hint: `End it with: scancel ${id}` });
    await sleep(POLL_MS);
  }
}

async function untilReady(id: string, runDir: string, parts: SessionJobParts): Promise<Running> {
  const { scheduler, signal, tell, queueLimitMs } = parts;
  let told = '';
  let startedMs: number | undefined;
  const queuedMs = Date.now();
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.2, MAX_POLL_MS)) {
    signal?.throwIfAborted();
    const failed = readWord(path.join(runDir, RUN_FILES.failed));
    if (failed !== undefined) throw new RunClaudeError('JOB_ENDED', `job ${id} did not start: ${failed}`);
    const ready = readWord(path.join(runDir, RUN_FILES.ready));
    if (ready !== undefined) return checkMemory(id, ready, parts);
    const state = await scheduler.state(id);
    if (state.kind === 'ended' && readWord(path.join(runDir, RUN_FILES.failed)) === undefined)
      throw new RunClaudeError('JOB_ENDED', `job ${id} ended before its agent started: ${state.why}`);
    if (state.kind === 'waiting' && state.why !== told)
      tell({ kind: 'message', level: 'info', text: `Waiting in the queue: ${state.why}. Ctrl-C ends the wait.` });
    if (state.kind === 'waiting') told = state.why;
    else startedMs ??= Date.now();
    if (startedMs === undefined && queueLimitMs !== undefined && Date.now() - queuedMs > queueLimitMs)
      throw new RunClaudeError(
        'JOB_STUCK',
        `job ${id} waits in the queue for ${queueLimitMs / 1000} seconds: ${told}`,
        {
          hint: `See what it waits for: scontrol show partition ${parts.target.queue}`,
        },
      );
    if (startedMs !== undefined && Date.now() - startedMs > READY_LIMIT_MS)
      throw new RunClaudeError('JOB_STUCK', `job ${id} runs and does not become ready`, {
        hint: `Does the node see ${runDir}? Its output is in ${path.join(runDir, 'log')}.`,
      });
    await sleep(startedMs === undefined ? pause : POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** What the node says about its control groups. A hostile node can say anything: it is trusted as an engine is. */
function checkMemory(id: string, ready: string, { limits, accepted, target, tell }: SessionJobParts): Running {
  const [machine = '', runtime = '', ...bounds] = ready.split(' ');
  const [memory, swap] = bounds.map((text) => (/^\d+$/.test(text) ? Number(text) : undefined));
  const allowed = (limits.memoryMb + OVERHEAD_MB) * 2 ** 20;
  const found = [
    ...(memory === undefined || memory > allowed ? (['memory'] as const) : []),
    ...(swap === undefined || swap > 0 ? (['swap'] as const) : []),
  ];
  refuseLost({ column: 'slurm', named: `--on ${targetText(target)}` }, [], { accepted, found });
  const name = machine.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 64);
  tell({ kind: 'message', level: 'info', text: `Job ${id} runs on ${name} (${runtime === 'crun' ? 'crun' : 'runc'})` });
  return { id, memory, swap };
}

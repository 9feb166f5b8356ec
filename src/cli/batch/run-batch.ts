import { EXIT } from '../../core/errors.ts';
import type { SessionEvent } from '../../core/types/event.ts';
import type { SessionRecord, Stage } from '../../core/types/session.ts';
import { sharedStatus } from '../../session/record/exit-status.ts';
import type { CommandContext } from '../context/context.ts';
import { verdictText } from './batch-lines.ts';
import { type BatchPlace, readTask, taskFiles, writeTask } from './batch-place.ts';
import type { BatchScreen } from './batch-screen.ts';
import {
  earlierSession,
  factsOfSession,
  judgeEarlier,
  readSession,
  sessionsByTask,
  taskName,
  whyFailed,
} from './session-of-task.ts';
import type { TaskLine } from './task-line.ts';
import { startTask, type TaskProcess } from './task-process.ts';
import { shownTask, type TaskState } from './task-state.ts';
import { judgeTask, statusOfTask } from './tasks/judge-task.ts';
import { nextStep, type Repeated } from './tasks/next-step.ts';
import { runQueue } from './tasks/run-queue.ts';
import type { TaskRecord } from './tasks/task.ts';

export interface BatchRun {
  readonly place: BatchPlace;
  readonly jobs: number;
  readonly screen: BatchScreen;
  /** Throws where the engine does not answer. */
  readonly requireEngine: (task: TaskLine) => Promise<void>;
}

/** How often a session that another run of the file started is looked at. */
const POLL_MS = 500;

/** What a run of the file would do with each of its tasks. */
export function planBatch(
  lines: readonly TaskLine[],
  { place, repeated, stateDir }: { readonly place: BatchPlace; readonly repeated: Repeated; stateDir: string },
): TaskState[] {
  const sessions = sessionsByTask(stateDir);
  return lines.map((line) => {
    const { id } = line.task;
    const record = readTask(place, id);
    const found = sessions.get(taskName(place.key, id));
    // A session of an earlier start of the task says nothing of the last start.
    const session = found !== undefined && record !== undefined && found.started >= record.started ? found : undefined;
    return { line, record, session, step: nextStep(record, earlierSession(session), repeated) };
  });
}

/**
 * Runs the tasks that have to run, and waits for those that an earlier run started. At an interruption every session is
 * stopped, collected and kept. Throws the error of an engine that does not answer any more, once all have ended.
 */
export async function runBatch(states: readonly TaskState[], run: BatchRun, context: CommandContext): Promise<void> {
  const { interruption } = context;
  const { screen } = run;
  let engineError: Error | undefined;
  const processes = new Set<Pick<TaskProcess, 'stop'>>();
  const stopAll = (): void => {
    for (const one of processes) one.stop(interruption.by() ?? 'SIGTERM');
  };
  const isStopped = (): boolean => interruption.signal.aborted || engineError !== undefined;
  const noteFailure = async (state: TaskState): Promise<boolean> => {
    if (isStopped()) return engineError !== undefined;
    try {
      await run.requireEngine(state.line);
      return false;
    } catch (error) {
      engineError ??= error as Error;
      stopAll();
      return true;
    }
  };
  const unlisten = onEachInterruption(context, stopAll);
  const one = async (state: TaskState): Promise<void> => {
    if (state.step === 'keep') return;
    state.running = { phase: 'starting', sinceMs: Date.now() };
    if (state.step === 'judge' && state.record !== undefined && state.session !== undefined)
      finish(state, judgeEarlier(state.record, state.session), run);
    else if (state.step === 'wait') await waitForEarlier(state, run, { context, processes });
    else await runTask(state, run, { context, processes, noteFailure });
  };
  try {
    screen.begin(states);
    await runQueue(states, run.jobs, { run: one, isStopped });
  } finally {
    unlisten();
    screen.end();
  }
  if (engineError !== undefined) throw engineError;
}

interface Watched {
  readonly context: CommandContext;
  readonly processes: Set<Pick<TaskProcess, 'stop'>>;
}

async function runTask(
  state: TaskState,
  run: BatchRun,
  watched: Watched & { readonly noteFailure: (state: TaskState) => Promise<boolean> },
): Promise<void> {
  const { place, screen } = run;
  const { env, cwd, places } = watched.context;
  const { task, words, input } = state.line;
  const record: TaskRecord = { version: 1, id: task.id, started: new Date().toISOString() };
  state.record = record;
  state.session = undefined;
  writeTask(place, record);
  let sessionId: string | undefined;
  let stagePhase = 'starting';
  const onEvent = (event: SessionEvent): void => {
    if (event.kind === 'stage') sessionId = event.session;
    stagePhase = event.kind === 'stage' ? phaseOfStage(event.stage) : stagePhase;
    if (state.running !== undefined) state.running.phase = progressOf(event) ?? stagePhase;
    screen.changed();
  };
  const order = { words, task: taskName(place.key, task.id) };
  const child = startTask({ order, input, ...taskFiles(place, task.id), cwd, env, onEvent });
  watched.processes.add(child);
  screen.started(state);
  const { status, error } = await child.ended;
  watched.processes.delete(child);
  const session = sessionId === undefined ? undefined : readSession(places.stateDir, sessionId);
  const ended = { status, session };
  // A session whose engine is lost ends in more than one way.
  const isEngineLost = judgeTask({ ...ended, isEngineLost: false }) !== 'done' && (await watched.noteFailure(state));
  const result = judgeTask({ ...ended, isEngineLost });
  const why = result === 'failed' ? (error ?? (session && whyFailed(session))) : error;
  state.session = session;
  const end = { result, session: session?.id, status, error: why, ms: Date.now() - Date.parse(record.started) };
  finish(state, { ...record, ...end, shown: session && factsOfSession(session) }, run);
}

/** Waits for a session whose batch was killed. */
async function waitForEarlier(state: TaskState, run: BatchRun, { context, processes }: Watched): Promise<void> {
  const { session, record } = state;
  if (session === undefined || record === undefined || state.running === undefined) return;
  const { owner } = session;
  const asked: Pick<TaskProcess, 'stop'> = {
    stop(by) {
      try {
        if (owner !== undefined) process.kill(owner.pid, by);
      } catch {
        // It ended in the meantime.
      }
    },
  };
  processes.add(asked);
  state.running.phase = 'working, started earlier';
  run.screen.started(state);
  let now: SessionRecord = session;
  while (earlierSession(now) === 'running') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const { owner: _, ...withoutOwner } = now;
    now = readSession(context.places.stateDir, session.id) ?? { ...withoutOwner, stage: 'discarded' };
  }
  processes.delete(asked);
  state.session = now;
  finish(state, judgeEarlier(record, now), run);
}

function finish(state: TaskState, record: TaskRecord, { place, screen }: BatchRun): void {
  state.record = record;
  state.running = undefined;
  writeTask(place, record);
  screen.ended(state);
}

/** Calls `stop` at the first interruption and at each later one. Returns what ends that. */
function onEachInterruption({ interruption }: CommandContext, stop: () => void): () => void {
  let isEnded = false;
  const listen = (): void => {
    interruption.next().addEventListener('abort', () => {
      if (isEnded) return;
      stop();
      listen();
    });
  };
  listen();
  if (interruption.signal.aborted) stop();
  return () => {
    isEnded = true;
  };
}

function phaseOfStage(stage: Stage): string {
  return stage === 'running' ? 'working' : stage === 'ended' ? 'collecting' : 'starting';
}

/** 'Copying files 40%'; undefined for any other event. */
function progressOf(event: SessionEvent): string | undefined {
  if (event.kind !== 'progress') return undefined;
  const { what, done = 0, total } = event;
  return `${what}${total ? ` ${Math.floor((100 * done) / total)}%` : ''}`;
}

/** A task for `--json`. Existing fields never change their meaning. */
export function taskData(state: TaskState, place: BatchPlace): object {
  const { record, line } = state;
  const { task } = line;
  const shown = shownTask(state, false);
  return {
    line: task.line,
    id: task.id,
    prompt: task.prompt,
    project: task.project,
    agent: task.agent,
    result: record?.result ?? 'not-started',
    verdict: verdictText(shown),
    status: record?.status,
    error: record?.error,
    session: record?.session,
    files: shown.facts?.files,
    costUsd: shown.facts?.costUsd,
    ms: record?.ms,
    ...taskFiles(place, task.id),
  };
}

/** The exit status of a batch that came to its end: that of the task that matters most. */
export function statusOfBatch(states: readonly TaskState[]): number {
  return sharedStatus(states.map(statusNow));
}

/** What was pending at the end of a task may be decided about by now. */
function statusNow({ record, session, step }: TaskState): number {
  const status = statusOfTask(record?.result, record?.status);
  const isPending = status === EXIT.undecided || status === EXIT.heldBack || status === EXIT.conflict;
  const isDecided = session?.stage === 'applied' || session?.stage === 'discarded';
  return step === 'keep' && isPending && isDecided ? EXIT.ok : status;
}

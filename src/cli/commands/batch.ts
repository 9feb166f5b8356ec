import os from 'node:os';
import { EXIT, usageError } from '../../core/errors.ts';
import { probeHost } from '../../core/host/facts.ts';
import { jsonText } from '../../core/report/json.ts';
import { withLock } from '../../core/store/lock.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import type { Policy } from '../../core/types/policy.ts';
import { findLogin, requireLogin } from '../../session/start/find-login.ts';
import { outputColumns } from '../../terminal/columns/wrap-words.ts';
import { promptText, summaryLines } from '../batch/batch-lines.ts';
import { type BatchPlace, batchLockFile, batchPlace, makeBatchPlace } from '../batch/batch-place.ts';
import { openBatchScreen } from '../batch/batch-screen.ts';
import { type CheckedLine, checkLines } from '../batch/check-lines.ts';
import { planBatch, runBatch, statusOfBatch, taskData } from '../batch/run-batch.ts';
import { readTaskFile } from '../batch/task-file.ts';
import type { TaskLine } from '../batch/task-line.ts';
import { shownTask, type TaskState } from '../batch/task-state.ts';
import { defaultJobs, type JobsInput, jobsForMemory } from '../batch/tasks/default-jobs.ts';
import type { Repeated } from '../batch/tasks/next-step.ts';
import { readTasks } from '../batch/tasks/read-tasks.ts';
import { type CommandContext, type CommandRun, optionChoice, optionValue } from '../context/context.ts';
import { reachableEngines } from '../engines/open-chosen-engine.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { recoverWithoutQuestion } from '../sessions/recover-without-question.ts';

/** `batch FILE`: the tasks of a file, each in a session of its own, side by side. `batch --review [FILE]`: their reviews. */
export const batchCommand: CommandRun = async (line, context) => {
  const [named] = line.words;
  if (line.options.has('review')) {
    const found = named === undefined ? undefined : await readTaskFile(named, context);
    // It loads the whole review, which a start does not need.
    const { reviewSessions } = await import('../batch/review-sessions.ts');
    return reviewSessions(line, found && batchPlace(context.places.stateDir, found.source), context);
  }
  if (named === undefined)
    throw usageError(
      'batch needs a FILE of tasks',
      'Write one prompt on each line of it. The name - reads the tasks from standard input.',
    );
  const jobs = jobsOf(line);
  const repeated = repeatedOf(line);
  const { name, text, source } = await readTaskFile(named, context);
  const tasks = readTasks(text, { name, cwd: context.cwd });
  const place = batchPlace(context.places.stateDir, source);
  const lines = await checkLines(tasks, { line, name }, context);
  const isDry = line.options.has('dry-run');
  const plan = (): TaskState[] => planBatch(lines, { place, repeated, stateDir: context.places.stateDir });
  if (isDry) {
    writePlan(plan(), line, context);
    return EXIT.ok;
  }
  makeBatchPlace(place);
  return withLock(batchLockFile(place), { what: `running the batch of ${named}` }, () =>
    runPlanned(plan(), { line, place, lines, jobs }, context),
  );
};

interface Batch {
  readonly line: CommandLineOfCommand;
  readonly place: BatchPlace;
  readonly lines: readonly CheckedLine[];
  /** Undefined: by the engine's machine. */
  readonly jobs: number | undefined;
}

async function runPlanned(
  states: TaskState[],
  { line, place, lines, jobs: asked }: Batch,
  context: CommandContext,
): Promise<number> {
  const { tell, env, interruption } = context;
  const open = states.filter(({ step }) => step !== 'keep');
  const policies = new Map(lines.map(({ task, policy }) => [task.id, policy]));
  const policyOf = ({ task }: TaskLine): Policy => policies.get(task.id) as Policy;
  const facts = open.length === 0 ? [] : await engineFacts(open, policyOf, context);
  const input = jobsInput(
    facts,
    open.map(({ line: one }) => policyOf(one)),
  );
  const jobs = Math.min(asked ?? defaultJobs(input), open.length);
  const kept = states.length - open.length;
  const before = kept === 0 ? '' : ` ${kept} ended earlier.`;
  const how = jobs === 0 ? 'all ended earlier.' : `${jobs} at a time.${before}`;
  tell({ kind: 'message', level: 'info', text: `${count(states.length)}, ${how}` });
  if (jobs > jobsForMemory(input)) {
    const text = `--jobs ${asked}: the engine's machine has memory for ${jobsForMemory(input)} at a time`;
    tell({ kind: 'message', level: 'warning', text });
  }
  for (const state of open) {
    if (state.step === 'collect' && state.session !== undefined && !interruption.signal.aborted)
      await collectEarlier(state, context);
  }
  interruption.signal.throwIfAborted();
  const isOneProject = new Set(states.map(({ line: one }) => one.task.project)).size === 1;
  const isQuiet = line.options.has('quiet');
  const isTraced = line.options.has('trace');
  const screen = openBatchScreen({ stderr: process.stderr, tell, isQuiet, isTraced, env, isOneProject });
  const requireEngine = async (task: TaskLine): Promise<void> => {
    await reachableEngines(policyOf(task), context);
  };
  try {
    await runBatch(states, { place, jobs, screen, requireEngine }, context);
  } finally {
    writeEnd(states, { line, place, isOneProject }, context);
  }
  interruption.signal.throwIfAborted();
  return statusOfBatch(states);
}

/** What a killed session left is collected first: the task's next session is another one. */
async function collectEarlier({ session, line }: TaskState, context: CommandContext): Promise<void> {
  if (session === undefined) return;
  const { stage, id } = await recoverWithoutQuestion(session, context);
  const what = stage === 'pending' ? `its changes are pending: run-claude apply ${id}` : 'it has no changes to apply';
  const text = `Task ${line.task.line} was cut off in session ${id}; ${what}. It is started again.`;
  context.tell({ kind: 'message', level: 'info', text });
}

/**
 * The facts of all engines that the sessions may get. Also finds the login: what is missing is reported once, before any
 * session.
 */
async function engineFacts(
  open: readonly TaskState[],
  policyOf: (task: TaskLine) => Policy,
  context: CommandContext,
): Promise<readonly EngineFacts[]> {
  const host = probeHost(process, context.places);
  const seen = new Set<string>();
  const found = new Map<string, EngineFacts>();
  for (const { line } of open) {
    const policy = policyOf(line);
    const { program } = line.line;
    const key = JSON.stringify([program.kind, policy.credentials, policy.engine, policy.on]);
    if (seen.has(key)) continue;
    seen.add(key);
    await requireLogin(
      { program, policy },
      (await findLogin({ program, policy }, context.env, host)).source,
      context.env,
    );
    for (const facts of await reachableEngines(policy, context)) found.set(facts.endpoint, facts);
  }
  return [...found.values()];
}

function jobsInput(engines: readonly EngineFacts[], policies: readonly Policy[]): JobsInput {
  const most = (of: (policy: Policy) => number): number => policies.reduce((max, one) => Math.max(max, of(one)), 0);
  const sum = (of: (facts: EngineFacts) => number | undefined, here: number): number =>
    engines.length === 0 ? here : engines.reduce((total, facts) => total + (of(facts) ?? here), 0);
  return {
    processors: sum(({ processors }) => processors, os.availableParallelism()),
    memoryMb: sum(({ memoryMb }) => memoryMb, Math.floor(os.totalmem() / 1_048_576)),
    limits: { cpus: most(({ cpus }) => cpus), memoryMb: most(({ memoryMb }) => memoryMb) || 1 },
  };
}

function jobsOf(line: CommandLineOfCommand): number | undefined {
  const value = optionValue(line, 'jobs');
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,2}$/.test(value)) return Number(value);
  throw usageError(`--jobs: '${value}' is not allowed`, 'Write a whole number from 1 to 999.');
}

function repeatedOf(line: CommandLineOfCommand): Repeated {
  if (!line.options.has('again')) return 'none';
  return optionValue(line, 'again') === '' ? 'failed' : (optionChoice(line, 'again', ['failed', 'all']) ?? 'failed');
}

const STEP_WORDS = {
  run: 'start',
  wait: 'wait for its session',
  collect: 'collect its session, then start',
  judge: 'its session has ended',
  keep: 'ended earlier',
} as const;

function writePlan(states: readonly TaskState[], line: CommandLineOfCommand, { write }: CommandContext): void {
  if (line.options.has('json')) {
    write(jsonText(states.map(({ line: { task }, step }) => ({ ...task, step }))));
    return;
  }
  const columns = outputColumns();
  for (const { line: one, step } of states) {
    write(`${String(one.task.line).padStart(4)}  ${STEP_WORDS[step]}: ${promptText(one.task.prompt, columns - 36)}\n`);
  }
}

/** The table, or JSON, and what to do next. */
function writeEnd(
  states: readonly TaskState[],
  { line, place, isOneProject }: Pick<Batch, 'line' | 'place'> & { readonly isOneProject: boolean },
  { write, tell }: CommandContext,
): void {
  if (line.options.has('json')) {
    write(jsonText(states.map((state) => taskData(state, place))));
    return;
  }
  const shown = states.map((state) => shownTask(state, isOneProject));
  for (const text of summaryLines(shown, outputColumns())) write(`${text}\n`);
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const of = (result: string): number => states.filter(({ record }) => record?.result === result).length;
  const unfinished = states.filter(({ record }) => record === undefined).length + of('interrupted');
  if (unfinished > 0) say(`${count(unfinished)} did not come to an end. The same command starts them again.`);
  if (of('failed') > 0) say(`${count(of('failed'))} failed. The same command with --again repeats them.`);
  say(`What each agent printed is in ${place.dir}`);
}

function count(tasks: number): string {
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
}

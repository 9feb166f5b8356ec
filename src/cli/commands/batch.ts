import { readFileSync, realpathSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { defaultJobs } from '../../batch/default-jobs.ts';
import type { Repeated } from '../../batch/next-step.ts';
import { readTasks } from '../../batch/read-tasks.ts';
import { EXIT, RunClaudeError, usageError } from '../../errors.ts';
import { probeHost } from '../../host/facts.ts';
import { pathIdentity } from '../../host/true-path.ts';
import { refuseProject } from '../../plan/refuse-project.ts';
import { jsonText } from '../../report/json.ts';
import { credentialLookup } from '../../session/start/credential.ts';
import { withLock } from '../../store/lock.ts';
import { outputColumns } from '../../terminal/wrap-words.ts';
import type { EngineFacts } from '../../types/engine.ts';
import type { Policy } from '../../types/policy.ts';
import { promptText, summaryLines } from '../batch/batch-lines.ts';
import { type BatchPlace, batchLockFile, batchPlace, makeBatchPlace } from '../batch/batch-place.ts';
import { openBatchScreen } from '../batch/batch-screen.ts';
import { planBatch, runBatch, shownTask, statusOfBatch, type TaskState, taskData } from '../batch/run-batch.ts';
import { type TaskLine, taskLine } from '../batch/task-line.ts';
import { chosenAgents } from '../context/chosen-agents.ts';
import { type CommandContext, type CommandRun, optionChoice, optionValue } from '../context/context.ts';
import { openEngine } from '../context/open-engine.ts';
import { readPolicy } from '../context/read-policy.ts';
import { recoverWithoutQuestion } from '../context/recover-without-question.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';
import { requireLogin } from '../start/require-login.ts';

const MAX_FILE_BYTES = 64 << 20;

/** `batch FILE`: the tasks of a file, each in a session of its own, side by side. */
export const batchCommand: CommandRun = async (line, context) => {
  const [named] = line.words;
  if (named === undefined)
    throw usageError('batch needs a FILE of tasks', 'Write one prompt on each line; - reads them.');
  const { text, source } = await readSource(named, context.cwd);
  const tasks = readTasks(text, { name: named === '-' ? 'standard input' : named, cwd: context.cwd });
  const place = batchPlace(context.places.stateDir, source);
  const lines = await checkLines(tasks, line, context);
  const repeated = repeatedOf(line);
  const isDry = line.options.has('dry-run');
  const plan = (): TaskState[] => planBatch(lines, { place, repeated, stateDir: context.places.stateDir });
  if (isDry) {
    writePlan(plan(), line, context);
    return EXIT.ok;
  }
  makeBatchPlace(place);
  return withLock(batchLockFile(place), { what: `running the batch of ${named}` }, () =>
    runPlanned(plan(), { line, place, lines }, context),
  );
};

interface Batch {
  readonly line: CommandLineOfCommand;
  readonly place: BatchPlace;
  readonly lines: readonly CheckedLine[];
}

async function runPlanned(
  states: TaskState[],
  { line, place, lines }: Batch,
  context: CommandContext,
): Promise<number> {
  const { tell, env, interruption } = context;
  const open = states.filter(({ step }) => step !== 'keep');
  const policyOf = (task: TaskLine): Policy => lines.find(({ task: { id } }) => id === task.task.id)?.policy as Policy;
  const facts = open.length === 0 ? undefined : await engineFacts(open, policyOf, context);
  const jobs =
    jobsOf(line) ??
    jobsFor(
      facts,
      open.map(({ line: one }) => policyOf(one)),
    );
  const kept = states.length - open.length;
  const before = kept === 0 ? '' : ` ${kept} ended earlier.`;
  tell({ kind: 'message', level: 'info', text: `${count(states.length)}, ${jobs} at a time.${before}` });
  for (const state of open) {
    if (state.step === 'collect' && state.session !== undefined && !interruption.signal.aborted)
      await collectEarlier(state, context);
  }
  interruption.signal.throwIfAborted();
  const isOneProject = new Set(states.map(({ line: one }) => one.task.project)).size === 1;
  const isQuiet = line.options.has('quiet');
  const screen = openBatchScreen({ stderr: process.stderr, tell, isQuiet, env, isOneProject });
  const requireEngine = async (task: TaskLine): Promise<void> => {
    await (await openEngine(policyOf(task).engine, context)).close();
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

/** Also connects the engine, and finds the login: what is missing is reported once, before any session. */
async function engineFacts(
  open: readonly TaskState[],
  policyOf: (task: TaskLine) => Policy,
  context: CommandContext,
): Promise<EngineFacts | undefined> {
  const host = probeHost(process, context.places);
  const seen = new Set<string>();
  let facts: EngineFacts | undefined;
  for (const { line } of open) {
    const policy = policyOf(line);
    const { program } = line.line;
    const key = JSON.stringify([program.kind, policy.credentials, policy.engine]);
    if (seen.has(key)) continue;
    seen.add(key);
    requireLogin(program, policy, await credentialLookup(context.env, host)({ program, policy }));
    const engine = await openEngine(policy.engine, context);
    facts ??= engine.facts;
    await engine.close();
  }
  return facts;
}

function jobsFor(facts: EngineFacts | undefined, policies: readonly Policy[]): number {
  const most = (of: (policy: Policy) => number): number => policies.reduce((max, one) => Math.max(max, of(one)), 0);
  return defaultJobs({
    processors: facts?.processors ?? os.availableParallelism(),
    memoryMb: facts?.memoryMb ?? Math.floor(os.totalmem() / 1_048_576),
    limits: { cpus: most(({ cpus }) => cpus), memoryMb: most(({ memoryMb }) => memoryMb) || 1 },
  });
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

/** The text of the tasks, and what names the batch: the real path of its file. */
async function readSource(named: string, cwd: string): Promise<{ readonly text: string; readonly source: string }> {
  if (named === '-') return { text: await readInput(), source: `${cwd}/-` };
  const file = path.resolve(cwd, named);
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw usageError(`${named} is larger than 64 MB`);
    return { text: readFileSync(file, 'utf8'), source: realpathSync(file) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code === 'USAGE') throw error;
    throw usageError(`cannot read ${named}: ${code === 'ENOENT' ? 'there is no such file' : code}`);
  }
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length;
    if (size > MAX_FILE_BYTES) throw usageError('standard input is larger than 64 MB');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface CheckedLine extends TaskLine {
  readonly policy: Policy;
}

/** The sessions of all tasks, checked before any of them starts. */
async function checkLines(
  tasks: ReturnType<typeof readTasks>,
  batch: CommandLineOfCommand,
  context: CommandContext,
): Promise<CheckedLine[]> {
  const agents = await chosenAgents(context.places.configDir, context.env);
  const host = probeHost(process, context.places);
  const isDirectory = (word: string): boolean => statSync(word, { throwIfNoEntry: false })?.isDirectory() === true;
  const name = batch.words[0] === '-' ? 'standard input' : (batch.words[0] ?? '');
  const checked: CheckedLine[] = [];
  for (const task of tasks) {
    try {
      const line = taskLine(task, batch, { agents, isDirectory });
      const { policy, project } = await readPolicy(line.line.project, line.line.flags, context);
      refuseProject(project.root, host, pathIdentity);
      checked.push({ ...line, policy });
    } catch (error) {
      if (!(error instanceof RunClaudeError)) throw error;
      throw usageError(`${name}, line ${task.line}: ${error.message}`, error.hint);
    }
  }
  return checked;
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

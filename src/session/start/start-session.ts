import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../core/errors.ts';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import { recordAgentFolders } from '../../core/host/programs/trusted-start.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { type Entering, enteringWords, unmatchedLines } from '../../workspace/base/entering.ts';
import { recoverProjectSessions } from '../later/recover-project.ts';
import { enteringRow, secretsRow, startScreen } from '../plan/describe-plan.ts';
import { secretWords } from '../plan/secret-words.ts';
import { TOOL_FILES, toolHints } from '../plan/tool-hints.ts';
import { foldersOf } from '../record/find/session-folders.ts';
import { reserveSession } from '../record/session.ts';
import { rememberStart, startUnanswered, whyAskStart } from '../record/start-answers.ts';
import { runSession } from '../run.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { agreeRequest } from './agree-request.ts';
import { makePlan, makeWhatPlanNames } from './make-plan.ts';
import { placeLines } from './planned-containers.ts';
import { startQuestion } from './questions.ts';
import type { RunSetup } from './set-up-run.ts';

/** What the lines of the start screen mean, for `?`. */
const START_SCREEN_WORDS = [
  'The lines above say what the agent gets: which files, which network, which credential, and what is weaker than usual.',
  'In copy mode you are asked at the end what is applied to your project. In bind mode the agent changes the project itself.',
];

/** What a start is handed besides its setup. */
export interface StartDeps extends SessionDeps {
  /** Connects the engine of an earlier session of the project. */
  readonly engineOf: (record: SessionRecord) => Promise<Runtime>;
  /** The credential's source, for the start screen; undefined: the screen does not mention it. */
  readonly credential: string | undefined;
  /** Nobody will be there to answer: a start that would have to ask is refused. */
  readonly isUnattended?: boolean;
}

/** Plans, asks for confirmation where it is needed, and runs the session. Returns the exit status. */
export async function startSession(setup: RunSetup, deps: StartDeps): Promise<number> {
  return (await withReadyStart(setup, deps, (plan) => runSession(plan, deps))) ?? EXIT.interrupted;
}

/**
 * Has what the project asks for agreed to, reserves an id and makes the plan; prints it, asks for confirmation where it is
 * needed, recovers the project's earlier sessions and makes what the plan names; then runs `body` with the plan that was
 * printed. Returns undefined where the user did not agree.
 */
export async function withReadyStart<T>(
  asked: RunSetup,
  deps: StartDeps,
  body: (plan: Plan) => Promise<T>,
): Promise<T | undefined> {
  const setup = await agreeRequest(asked, deps.isUnattended === true ? { ...deps, screen: undefined } : deps);
  if (setup === undefined) return undefined;
  const { input } = setup;
  const { stateDir } = input.host;
  const reserved: string[] = [];
  const reserve = (): string => {
    const { id, dir } = reserveSession(stateDir, Date.now());
    reserved.push(dir);
    return id;
  };
  try {
    const made = await makePlan(input, reserve, deps, true);
    const { plan } = made;
    await showStart(plan, deps);
    const isAgreed = await agreeStart(plan, deps);
    if (!isAgreed) {
      dropReserved(reserved);
      deps.tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
      return undefined;
    }
    // In the background nobody is asked about the agent of a command that was killed.
    const recovering = deps.isUnattended === true ? { ...deps, screen: undefined } : deps;
    for (const root of foldersOf(plan)) await recoverProjectSessions(root, recovering, deps.engineOf);
    if (plan.mode === 'bind') recordAgentFolders(stateDir, foldersOf(plan));
    await makeWhatPlanNames(made, deps);
    return await body(plan);
  } catch (error) {
    dropReserved(reserved);
    throw error;
  }
}

/** Removes the directories of sessions that have no record. */
function dropReserved(dirs: readonly string[]): void {
  for (const dir of dirs)
    if (!existsSync(path.join(dir, 'session.json'))) rmSync(dir, { recursive: true, force: true });
}

async function showStart(plan: Plan, deps: StartDeps): Promise<void> {
  const { tell, credential, entering } = deps;
  // Whoever is asked reads the line, and bind mode has one in any case. Other starts wait for the scan later, while the
  // image and the gateway are made ready.
  const isAwaited = plan.mode === 'bind' || whyAsked(plan, deps) !== undefined;
  const counted = await (isAwaited ? entering : Promise.race([entering, undefined]));
  const isLate = counted === undefined;
  const words = isLate ? undefined : enteringWords(counted);
  const secrets = secretWords(counted?.secrets ?? [], counted?.unsearched);
  for (const text of [...startScreen(plan, credential, words, secrets), ...hintsFor(plan)])
    tell({ kind: 'message', level: 'info', text });
  const warn = (known: Entering): void => {
    for (const text of unmatchedLines(known)) tell({ kind: 'message', level: 'warning', text });
  };
  if (!isLate) warn(counted);
  else {
    void entering?.then((late) => {
      if (late === undefined) return;
      const rows = [
        enteringRow(plan, enteringWords(late)),
        ...secretWords(late.secrets, late.unsearched).map(secretsRow),
      ];
      for (const text of rows) tell({ kind: 'message', level: 'info', text });
      warn(late);
    });
  }
}

/** Why the user is asked before the start: on the first one of a project, and where it is weaker than the last one. */
function whyAsked(plan: Plan, { host, screen }: StartDeps): string | undefined {
  return plan.policy.yes || screen === undefined ? undefined : whyAskStart(plan, host.stateDir);
}

/** Whether the session may start. */
async function agreeStart(plan: Plan, deps: StartDeps): Promise<boolean> {
  const { host, tell, screen, interruption } = deps;
  const why = whyAsked(plan, deps);
  if (screen === undefined || why === undefined) return true;
  if (deps.isUnattended === true) throw startUnanswered(why);
  // A script with a terminal would wait here unnoticed: the line says how to do without the question.
  tell({ kind: 'message', level: 'info', text: `${why} Read the lines above; with --yes there is no question.` });
  const isAgreed = await askYesNo(screen, startQuestion([...START_SCREEN_WORDS, ...placesOf(plan, host.dataDir)]));
  interruption.signal.throwIfAborted();
  if (isAgreed) rememberStart(plan, host.stateDir);
  return isAgreed;
}

/** Where the session's files are on this machine, and inside. */
function placesOf(plan: Plan, dataDir: string): readonly string[] {
  return ['Mounted in the container:', ...placeLines(plan, dataDir).map((line) => `  ${cleanLine(line)}`)];
}

/** What the project says about its tools, where that is not what run-claude's own image has. */
function hintsFor({ policy, project }: Plan): string[] {
  if (policy.image !== undefined) return [];
  const files = new Map<string, string>();
  for (const name of TOOL_FILES) {
    try {
      const text = readSmallFile(path.join(project.root, name), 'refuse');
      if (text !== undefined) files.set(name, text);
    } catch {
      // A file that cannot be read gives no hint, and the project starts.
    }
  }
  return toolHints({ files, packages: policy.environment?.packages ?? [] });
}

import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../core/errors.ts';
import { recordAgentFolders } from '../../core/host/programs/trusted-start.ts';
import { readSmallFile } from '../../core/host/small-file.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { type Entering, enteringWords } from '../../workspace/base/entering.ts';
import { recoverProjectSessions } from '../later/recover-project.ts';
import { startScreen } from '../plan/describe-plan.ts';
import { foldersOf } from '../plan/folders-of.ts';
import { TOOL_FILES, toolHints } from '../plan/tool-hints.ts';
import { reserveSession } from '../record/session.ts';
import { rememberStart, whyAskStart } from '../record/start-answers.ts';
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
  /** What is copied, once the scan that began with the command has ended. */
  readonly entering?: () => Entering | undefined;
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
  const setup = await agreeRequest(asked, deps);
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
    showStart(plan, deps);
    const isAgreed = await agreeStart(plan, deps);
    if (!isAgreed) {
      dropReserved(reserved);
      deps.tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
      return undefined;
    }
    for (const root of foldersOf(plan)) await recoverProjectSessions(root, deps, deps.engineOf);
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

function showStart(plan: Plan, { tell, credential, entering }: StartDeps): void {
  const counted = entering?.();
  const words = counted === undefined ? undefined : enteringWords(counted);
  for (const text of [...startScreen(plan, credential, words), ...hintsFor(plan)])
    tell({ kind: 'message', level: 'info', text });
  for (const pattern of counted?.unmatched ?? [])
    tell({ kind: 'message', level: 'warning', text: cleanLine(`${pattern}: nothing in the project matches it`) });
}

/** Whether the session may start: asked on the first start of a project, and where it is weaker than the last one. */
async function agreeStart(plan: Plan, { host, tell, screen, interruption }: StartDeps): Promise<boolean> {
  const why = plan.policy.yes ? undefined : whyAskStart(plan, host.stateDir);
  if (screen === undefined || why === undefined) return true;
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

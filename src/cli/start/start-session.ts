import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../core/errors.ts';
import { recordAgentFolders } from '../../core/host/programs/trusted-start.ts';
import { readSmallFile } from '../../core/host/small-file.ts';
import type { Selection } from '../../core/text/selection.ts';
import type { Plan } from '../../core/types/plan.ts';
import { recoverProjectSessions } from '../../session/later/recover-project.ts';
import { startScreen } from '../../session/plan/describe-plan.ts';
import { foldersOf } from '../../session/plan/folders-of.ts';
import { withTrial } from '../../session/plan/plan-run.ts';
import { needsTrial } from '../../session/plan/strategy.ts';
import { TOOL_FILES, toolHints } from '../../session/plan/tool-hints.ts';
import { reserveSession } from '../../session/record/session.ts';
import { rememberStart, whyAskStart } from '../../session/record/start-answers.ts';
import { runSession } from '../../session/run.ts';
import type { SessionDeps } from '../../session/stage/deps.ts';
import { prepareImage } from '../../session/stage/prepare-image.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { type Entering, enteringWords } from '../../workspace/base/entering.ts';
import { startSelection } from '../../workspace/base/prescan-project.ts';
import { tryLayers } from '../../workspace/layer/try-layers.ts';
import type { CommandContext } from '../context/context.ts';
import { openEngineOf } from '../engines/open-engine.ts';
import { agreeRequest } from './agree-request.ts';
import { placeLines } from './places.ts';
import { imageOf } from './plan-only.ts';
import { startQuestion } from './questions.ts';
import type { RunSetup } from './set-up-run.ts';

/** How long the engine of an earlier session of the project may take to answer: a start waits for it. */
const EARLIER_ANSWER_MS = 10_000;

/** What the lines of the start screen mean, for `?`. */
const START_SCREEN_WORDS = [
  'The lines above say what the agent gets: which files, which network, which credential, and what is weaker than usual.',
  'In copy mode you are asked at the end what is applied to your project. In bind mode the agent changes the project itself.',
];

/** The credential as the first screen names it, and how the session gets it. */
export interface SessionCredential {
  /** undefined: the start screen does not mention it. */
  readonly shown: string | undefined;
  readonly findCredential: SessionDeps['findCredential'];
  /** What is copied, once the scan that began with the command has ended. */
  readonly entering?: () => Entering | undefined;
}

/** A session that may start: its plan is agreed to, and its image exists. */
export interface ReadyStart {
  readonly plan: Plan;
  readonly deps: SessionDeps;
}

/** Reserves an id, asks for confirmation where it is needed, and runs the session. Returns the exit status. */
export async function startSession(
  setup: RunSetup,
  context: CommandContext,
  credential: SessionCredential & { readonly screen: SessionDeps['screen'] },
  prescan: SessionDeps['prescan'],
): Promise<number> {
  const status = await withReadyStart(setup, context, credential, ({ plan, deps }) =>
    runSession(plan, { ...deps, prescan, ...(setup.report && { report: setup.report }) }),
  );
  return status ?? EXIT.interrupted;
}

/**
 * Has what the project asks for agreed to, reserves an id, prepares the image, asks for confirmation on `screen` where it is needed, and recovers the project's
 * earlier sessions; then runs `body`. Returns undefined where the user did not agree.
 */
export async function withReadyStart<T>(
  asked: RunSetup,
  context: CommandContext,
  { shown, findCredential, screen, entering }: SessionCredential & { readonly screen: SessionDeps['screen'] },
  body: (start: ReadyStart) => Promise<T>,
): Promise<T | undefined> {
  const setup = await agreeRequest(asked, context, screen);
  if (setup === undefined) return undefined;
  const { engine, host, policy } = setup;
  const { tell, env, interruption } = context;
  const image = await imageOf(setup, context);
  const { id, dir } = reserveSession(host.stateDir, Date.now());
  const reserved = [dir];
  const dropReserved = (): void => {
    for (const one of reserved)
      if (!existsSync(path.join(one, 'session.json'))) rmSync(one, { recursive: true, force: true });
  };
  try {
    const planned = setup.plan(id, image, () => {
      const folder = reserveSession(host.stateDir, Date.now());
      reserved.push(folder.dir);
      return folder.id;
    });
    await prepareImage(planned, { engine, tell, env, host, interruption }, policy.rebuild);
    const { user, ownImage = image.tag } = planned;
    const trial = needsTrial(planned)
      ? await tryLayers({ engine, stateDir: host.stateDir, image: ownImage, user, sessionId: id })
      : undefined;
    const plan = withTrial(planned, trial);
    const counted = entering?.();
    const words = counted === undefined ? undefined : enteringWords(counted);
    for (const text of [...startScreen(plan, shown, words), ...hintsFor(plan)])
      tell({ kind: 'message', level: 'info', text });
    for (const pattern of counted?.unmatched ?? [])
      tell({ kind: 'message', level: 'warning', text: cleanLine(`${pattern}: nothing in the project matches it`) });
    const why = policy.yes ? undefined : whyAskStart(plan, host.stateDir);
    if (screen !== undefined && why !== undefined) {
      // A script with a terminal would wait here unnoticed: the line says how to do without the question.
      tell({ kind: 'message', level: 'info', text: `${why} Read the lines above; with --yes there is no question.` });
      const isAgreed = await askYesNo(screen, startQuestion([...START_SCREEN_WORDS, ...placesOf(plan, host.dataDir)]));
      interruption.signal.throwIfAborted();
      if (!isAgreed) {
        dropReserved();
        tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
        return undefined;
      }
      rememberStart(plan, host.stateDir);
    }
    const deps: SessionDeps = { engine, host, env, tell, screen, interruption, findCredential };
    for (const root of foldersOf(plan))
      await recoverProjectSessions(root, deps, (record) =>
        openEngineOf(record.plan, context, { answerMs: EARLIER_ANSWER_MS }),
      );
    if (plan.mode === 'bind') recordAgentFolders(host.stateDir, foldersOf(plan));
    return await body({ plan: await withCaches(await withEnvironment(plan, deps), deps), deps });
  } catch (error) {
    dropReserved();
    throw error;
  }
}

/** Where the session's files are on this machine, and inside. */
function placesOf(plan: Plan, dataDir: string): readonly string[] {
  return ['Mounted in the container:', ...placeLines(plan, dataDir).map((line) => `  ${cleanLine(line)}`)];
}

const selectionOf = ({ policy, project }: Plan): Selection => startSelection(policy, project.root);

/** The plan with what the setup of its environment made. */
async function withEnvironment(plan: Plan, { engine, host, env, tell, interruption }: SessionDeps): Promise<Plan> {
  if (plan.policy.environment?.setup === undefined) return plan;
  const { makeEnvironment } = await import('../../environment/setup/make-environment.ts');
  const { signal } = interruption;
  const environment = await makeEnvironment(plan, {
    engine,
    cacheDir: host.cacheDir,
    selection: selectionOf(plan),
    tell,
    env,
    signal,
  });
  if (plan.mode === 'bind') {
    const text =
      'In bind mode the agent gets what the setup made in its home, and not what it made in the project: that stays as it is on this machine. To have both: --copy-workspace.';
    tell({ kind: 'message', level: 'info', text });
  }
  return { ...plan, environment };
}

/** The plan with the caches that its project's lock files name. */
async function withCaches(plan: Plan, { engine, host, env, tell, interruption }: SessionDeps): Promise<Plan> {
  if ((plan.policy.caches ?? []).length === 0) return plan;
  const { fillCaches } = await import('../../environment/caches/fill-caches.ts');
  const { signal } = interruption;
  const options = { engine, cacheDir: host.cacheDir, selection: selectionOf(plan), tell, env, signal };
  return { ...plan, caches: await fillCaches(plan, options) };
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

import type { FlagValue } from '../../core/config/merge-policy.ts';
import { refuseEngine } from '../../session/plan/choose-engine.ts';
import { isFirstStart, startUnanswered } from '../../session/record/start-answers.ts';
import { findLogin, requireLogin } from '../../session/start/find-login.ts';
import {
  type AskedRun,
  type AskingPlace,
  type CheckedRun,
  checkAsked,
  requireRoom,
} from '../../session/start/set-up-run.ts';
import type { Screen } from '../../terminal/screen.ts';
import type { CommandContext } from '../context/context.ts';
import { reachableEngines } from '../engines/open-chosen-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { type ProjectPolicy, readPolicy } from '../policy/read-policy.ts';
import { askMode } from './ask-mode.ts';
import { askedRun } from './asked-run.ts';

/**
 * The session that a command line asks for, checked. At the first start of a project on a terminal, where nothing chooses
 * the mode, the user is asked for it, and the answer is kept in the user's configuration. Undefined where the user ended
 * the question.
 *
 * @throws {RunClaudeError} as readPolicy, askedRun and checkAsked. What no answer could help is thrown before the question:
 * CREDENTIAL_MISSING and what openEngine throws too.
 */
export async function checkLine(
  line: RunLine,
  context: CommandContext,
  place: AskingPlace,
  screen: Screen | undefined,
): Promise<CheckedRun | undefined> {
  const read = (flags: readonly FlagValue[]): Promise<ProjectPolicy> =>
    readPolicy(line.project, flags, context, { isAttended: screen !== undefined });
  const check = (merged: ProjectPolicy): Promise<CheckedRun> =>
    checkAsked(askedRun(line, merged), place, line.action !== 'dry-run');
  const merged = await read(line.flags);
  const { policy, origins, project } = merged;
  const isOpen = line.action === 'run' && !policy.yes && !origins.has('mode');
  if (screen === undefined || !isOpen || !isFirstStart(project.root, place.host.stateDir)) return check(merged);
  if (line.background === true)
    throw startUnanswered('Nothing is chosen yet for this project: write --copy or --bind.');
  await refuseWhateverMode(askedRun(line, merged), context, place);
  const mode = await askMode(line, project.root, context, screen);
  if (mode === undefined) return undefined;
  return check(await read([...line.flags, { flag: 'your answer', setting: 'mode', value: mode }]));
}

/** Refuses what can start in neither mode. */
async function refuseWhateverMode(asked: AskedRun, context: CommandContext, place: AskingPlace): Promise<void> {
  const { policy } = asked;
  // Copy mode allows more folders, and bind mode needs less room.
  await checkAsked({ ...asked, policy: { ...policy, mode: 'copy' } }, place, false);
  requireRoom({ mode: 'bind' }, place.host);
  await requireLogin(asked, (await findLogin(asked, place.env, place.host)).source, place.env);
  const engines = await reachableEngines(policy, context);
  if (engines.length === 1) for (const facts of engines) refuseEngine(facts, policy);
}

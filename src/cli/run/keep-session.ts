import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { withLock } from '../../core/store/lock.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { startHolder } from '../../session/kept/holder.ts';
import { findUp, notUp } from '../../session/kept/place.ts';
import { finishApply } from '../../session/later/recover-project.ts';
import { pathKey } from '../../session/plan/plan-run.ts';
import { readRecord } from '../../session/record/session.ts';
import { findLogin, requireLogin } from '../../session/start/find-login.ts';
import { checkAsked, setUpRun } from '../../session/start/set-up-run.ts';
import { withReadyStart } from '../../session/start/start-session.ts';
import type { Screen } from '../../terminal/screen.ts';
import type { CommandContext } from '../context/context.ts';
import { openChosenEngine } from '../engines/open-chosen-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { readPolicy } from '../policy/read-policy.ts';
import { restoredPlan } from '../sessions/restored-plan.ts';
import { askedRun, askingPlace } from './asked-run.ts';
import { startDeps } from './start-deps.ts';

/** A kept session that is up. */
export interface KeptStart {
  readonly record: SessionRecord;
  /** It was started for this call; otherwise it was up already, with the options of its own start. */
  readonly isNew: boolean;
}

/** As long as an image may be built. */
const START_WAIT_MS = 3_600_000;

/**
 * The kept session of a project: the one that is up, or a new one, which a process of its own holds. Of several calls at
 * the same time one starts it. `screen`: where the first start of a project may be confirmed. Returns undefined where the
 * user did not agree.
 *
 * @throws {RunClaudeError} what planning and starting a session throws.
 */
export async function keepSession(
  line: Pick<RunLine, 'project' | 'flags'>,
  context: CommandContext,
  screen: Screen | undefined,
): Promise<KeptStart | undefined> {
  const { stateDir } = context.places;
  const { project } = await readPolicy(line.project, line.flags, context);
  const up = findUp(stateDir, project.root);
  if (up !== undefined) return { record: up, isNew: false };
  return withUpLock(project.root, context, () => startKept(line, context, screen));
}

/**
 * Brings a kept session up again that has ended, in its copy. An apply that was interrupted is finished first. Another one of its project that is up by then is returned
 * in its place.
 *
 * @throws {RunClaudeError} what the start of the session throws; LAYER_GONE where its copy no longer exists.
 */
export function restartKeptSession(record: SessionRecord, context: CommandContext): Promise<KeptStart> {
  return withUpLock(record.project, context, async () =>
    hold(restoredPlan(await finishApply(record, context), context), context),
  );
}

async function withUpLock<T extends KeptStart | undefined>(
  root: string,
  { places: { stateDir }, interruption }: CommandContext,
  start: () => Promise<T>,
): Promise<T | KeptStart> {
  const lock = path.join(stateDir, 'up', `${pathKey(root)}.lock`);
  const options = { what: 'starting a session', waitMs: START_WAIT_MS, signal: interruption.signal };
  return withLock(lock, options, async () => {
    const up = findUp(stateDir, root);
    return up === undefined ? start() : { record: up, isNew: false };
  });
}

async function hold(plan: Plan, { tell, env, interruption }: CommandContext): Promise<KeptStart> {
  await startHolder({ plan }, { tell, signal: interruption.signal, env });
  const record = readRecord(plan.sessionDir);
  if (record === undefined) throw notUp(plan.sessionId);
  return { record, isNew: true };
}

async function startKept(
  { project, flags }: Pick<RunLine, 'project' | 'flags'>,
  context: CommandContext,
  screen: Screen | undefined,
): Promise<KeptStart | undefined> {
  const { tell, env } = context;
  const line = { kind: 'run', action: 'up', project, program: { kind: 'kept' }, flags } as const;
  const place = askingPlace(context);
  const isAttended = place.host.stdinTty && place.host.stderrTty;
  const merged = await readPolicy(project, flags, context, { isAttended });
  const checked = await checkAsked(askedRun(line, merged), place, true);
  if (checked.report !== undefined)
    throw usageError(
      '--report is not written by a session without an agent',
      'After its end: run-claude status ID --report FILE',
    );
  const chosen = await openChosenEngine(checked.policy, context, true, []);
  try {
    const setup = await setUpRun(checked, chosen, place);
    for (const text of setup.warnings) tell({ kind: 'message', level: 'warning', text });
    const login = await findLogin(setup.input, env, place.host);
    await requireLogin(setup.input, login.source, context.env);
    const deps = startDeps(setup, login, context, screen);
    return await withReadyStart(setup, deps, (plan) => hold(plan, context));
  } finally {
    await chosen.engine.close();
  }
}

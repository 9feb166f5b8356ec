import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../../errors.ts';
import { tryLayers } from '../../layer/try-layers.ts';
import { startScreen } from '../../plan/describe-plan.ts';
import { reserveSession } from '../../record/session.ts';
import { rememberStart, whyAskStart } from '../../record/start-answers.ts';
import { recoverEarlier } from '../../session/later/recover-earlier.ts';
import { runSession } from '../../session/run.ts';
import type { SessionDeps } from '../../session/start/deps.ts';
import { prepareImage, sessionImage } from '../../session/start/prepare-image.ts';
import { askLine } from '../../terminal/ask.ts';
import type { CredentialSource } from '../../types/credential.ts';
import type { CommandContext } from '../context/context.ts';
import { openScreen } from '../context/open-screen.ts';
import type { RunSetup } from './set-up-run.ts';

/** A credential that was looked for, and its line of the start screen. */
export interface ShownCredential {
  readonly source: CredentialSource | undefined;
  /** undefined: the start screen does not mention it. */
  readonly text: string | undefined;
}

/** Reserves an id, asks for confirmation where it is needed, and runs the session. Returns the exit status. */
export async function startSession(
  setup: RunSetup,
  context: CommandContext,
  credential: ShownCredential,
  ahead: SessionDeps['ahead'],
): Promise<number> {
  const { engine, host, policy, report } = setup;
  const { tell, env, interruption } = context;
  const image = await sessionImage(policy, engine, env);
  const { id, dir } = reserveSession(host.stateDir, Date.now());
  const screen = openScreen(process, env, interruption);
  try {
    const draft = setup.plan(id, image, undefined);
    const overlay =
      draft.mode === 'copy' && engine.facts.local && ['auto', 'layers', 'overlay'].includes(policy.strategy);
    await prepareImage(draft, { engine, tell, env, host, interruption }, policy.rebuild);
    const trial = overlay
      ? await tryLayers({ engine, stateDir: host.stateDir, image, user: draft.user, sessionId: id })
      : undefined;
    const plan = setup.plan(id, image, trial);
    for (const text of startScreen(plan, credential.text)) tell({ kind: 'message', level: 'info', text });
    const why = policy.yes ? undefined : whyAskStart(plan, host.stateDir);
    if (screen !== undefined && why !== undefined) {
      // A script with a terminal would wait here unnoticed: the line says how to do without the question.
      tell({ kind: 'message', level: 'info', text: `${why} Read the lines above; with --yes there is no question.` });
      const answer = (await askLine(screen, '[sandbox] Start the session? [Y/n]:'))?.trim().toLowerCase();
      interruption.signal.throwIfAborted();
      if (answer === undefined || !['', 'y', 'yes'].includes(answer)) {
        rmSync(dir, { recursive: true, force: true });
        tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
        return EXIT.interrupted;
      }
      rememberStart(plan, host.stateDir);
    }
    await recoverEarlier(plan.project.root, { engine, host, env, tell, screen, interruption });
    const run = plan.mode === 'bind' ? (await import('../../session/run-bind.ts')).runBind : runSession;
    return await run(plan, {
      engine,
      host,
      env,
      tell,
      screen,
      interruption,
      credential: { source: credential.source },
      ahead,
      ...(report === undefined ? {} : { report }),
    });
  } catch (error) {
    if (!existsSync(path.join(dir, 'session.json'))) rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}
